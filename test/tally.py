# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up what ctest and lit reported: `N passed, N failed, N skipped`, exit 1 when something failed.

    python tally.py FOLDER       ctest.xml, ctest-*.xml of other build folders, and lit*.xml of the lit runs that were tests of ctest (named lit*)
"""
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def cases(path: Path):
    """Name and outcome of each test in a JUnit file. To ctest a test whose program is not there has not been run, as one that skips itself."""
    for case in ET.parse(path).iter("testcase"):
        skipped = case.find("skipped")
        missing = case.get("status") == "notrun" and (skipped is None or not skipped.get("message", "").startswith("SKIP_"))
        if case.find("failure") is not None or case.get("status") == "fail" or missing:
            yield case.get("name"), "failed"
        elif skipped is not None or case.get("status") == "disabled":
            yield case.get("name"), "skipped"
        else:
            yield case.get("name"), "passed"


def main(folder: Path) -> int:
    count = {"passed": 0, "failed": 0, "skipped": 0}
    failed = []
    inner = [c for path in sorted(folder.glob("lit*.xml")) for c in cases(path)]
    try:
        outer = [c for path in [folder / "ctest.xml", *sorted(folder.glob("ctest-*.xml"))] for c in cases(path)]
    except (OSError, ET.ParseError) as error:
        outer = [(f"ctest: {error}", "failed")]
    # A lit run that wrote its own report is counted there; one that failed without a failing test counts itself.
    inner_failed = any(outcome == "failed" for _, outcome in inner)
    for name, outcome in outer:
        if name.startswith("lit") and inner and (outcome != "failed" or inner_failed):
            continue
        inner.append((name, outcome))
    for name, outcome in inner:
        count[outcome] += 1
        if outcome == "failed":
            failed.append(name)
    if not inner:
        failed.append("no test was found")
        count["failed"] = 1
    for name in failed:
        print(f"FAILED {name}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**count))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

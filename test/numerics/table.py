# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `./dev test --exhaustive` found, from the outputs of its shards, as a page: test/numerics/exhaustive.md."""
import datetime
import os
import re
import sys


def processor() -> str:
    with open("/proc/cpuinfo") as info:
        text = info.read()
    name = re.search(r"model name\s*: (.*)", text)
    flags = re.search(r"flags\s*: (.*)", text).group(1).split()
    return f"{name.group(1) if name else 'unknown'}, {'AVX-512' if 'avx512f' in flags else 'AVX2'}, {os.cpu_count()} CPUs"


def main():
    # Of a function that several shards have parts of: all arguments, and the worst of them.
    functions: dict[str, list[str]] = {}
    for path in sys.argv[1:]:
        for line in open(path):
            if not line.startswith("|"):
                continue
            name, count, error, *rest = (cell.strip() for cell in line.strip().strip("|").split("|"))
            seen = functions.setdefault(name, [name, "0", "-1", ""])
            worst = [error, *rest] if float(error) > float(seen[2]) else seen[2:]
            functions[name] = [name, str(int(seen[1]) + int(count)), *worst]
    rows = sorted(functions.values(), key=lambda row: ("64" in row[0], row[0]))
    print(f"""# All floats

`./dev test --exhaustive`, {datetime.date.today()}: {processor()}; {" ".join(os.confstr("CS_GNU_LIBC_VERSION").split())}. Every result of
scalar code equals that of AVX2 code and, where the processor has it, of AVX-512 code, bit for bit. Errors are in units of the last
place, against libm in double (float64: in 80 bits, over random arguments).

| function | arguments | largest error | at | bound |
|---|--:|--:|---|--:|""")
    for row in rows:
        print("| " + " | ".join(row) + " |")


main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""exits.py CODE COMMAND...: runs the command, hands its output on, and succeeds if it exits with CODE."""
import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
code = subprocess.run(command).returncode
if code != expected:
    sys.exit(f"{' '.join(command)}: exit {code}, expected {expected}")

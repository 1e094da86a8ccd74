# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit suite: every .mlir and .test file below this folder.
import os
import subprocess
import sys

import lit.formats

config.name = "Tutti"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tutti_build, "test")
config.substitutions.append(("%python", sys.executable))
# The level of CPUs that this machine runs, for tests that are about no level; `cpu` compiles for all of them.
with open("/proc/cpuinfo") as file:
    flags = set(file.read().split())
config.substitutions.append(("%cpu", "cpu-avx512" if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags else "cpu-v3"))
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tutti_build, "bin"), config.llvm_tools, os.environ["PATH"]]
)
config.environment["TUTTI_LIBRARIES"] = os.path.join(config.tutti_build, "lib")
# A Python with what makes and reads models, which ./dev test puts into the build folder.
venv = os.path.join(config.tutti_build, "venv", "bin", "python")
if os.path.exists(venv) and subprocess.run([venv, "-c", "import numpy, onnx"], capture_output=True).returncode == 0:
    config.available_features.add("onnx")
config.substitutions.append(("%venv", venv))

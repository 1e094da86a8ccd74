# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit suite: every .mlir and .test file below this folder.
import importlib.util
import os
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
# What makes and reads models in Python; few machines that only run tests have it.
if all(importlib.util.find_spec(name) for name in ("numpy", "onnx")):
    config.available_features.add("onnx")

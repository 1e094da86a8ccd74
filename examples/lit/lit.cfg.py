# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A lit suite of one's own over Tutti's tools. They and FileCheck are found on the PATH, or in the folders that are given:
#   lit -v --param tutti=/opt/tutti/bin --param llvm=/usr/lib/llvm-22/bin .
import os
import shutil
import sys
import tempfile

import lit.formats

config.name = "my ensemble"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params.get("out", os.path.join(tempfile.gettempdir(), f"my-ensemble-lit-{os.getuid()}"))
config.substitutions.append(("%python", sys.executable))

folders = [lit_config.params[name] for name in ("tutti", "llvm") if name in lit_config.params]
path = os.pathsep.join([*folders, os.environ["PATH"]])
config.environment["PATH"] = path
for tool in ("tutti-compile", "tutti-opt", "tutti-inspect", "FileCheck"):
    if not shutil.which(tool, path=path):
        lit_config.fatal(f"{tool} is not on the PATH; --param tutti=FOLDER and --param llvm=FOLDER say where the tools are")

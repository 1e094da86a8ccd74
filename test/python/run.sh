#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the Python package as pip does, into BUILD/python, and runs its tests. Skipped (77) where BUILD/venv, which ./dev test makes,
# has not what that takes. CC and CXX say with which compilers. Usage: run.sh SOURCE BUILD
set -eu
source=$1 build=$2 python=$2/venv/bin/python
"$python" -c 'import nanobind, numpy, scikit_build_core' || { echo "$python has no nanobind, numpy or scikit-build-core"; exit 77; }
"$python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps --upgrade --target "$build/python" \
  --config-settings=build-dir="$build/wheel" "$source"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$build/python" TUTTI_BUILD="$build" TUTTI_CUDA_DRIVER="$build/lib/libcuda-emulated.so" \
  "$python" -m unittest discover -s "$source/test/python"

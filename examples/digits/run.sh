#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The demo: compiles the ten members together and each alone, then runs them.  run.sh BIN OUT, folders.
set -euo pipefail
here=$(dirname "$(realpath "$0")") bin=$(realpath "$1")
mkdir -p "$2"; out=$(realpath --relative-to=. "$2")

echo "compiling ten members into $out/digits.tutti, and each alone"
"$bin/tutti-compile" "$here"/models/member_{0..9}.onnx -o "$out/digits.tutti" --dim batch=1..360 --output logits=members,mean,vote
for m in {0..9}; do
  "$bin/tutti-compile" "$here/models/member_$m.onnx" -o "$out/member_$m.tutti" --dim batch=1..360
done
"$bin/tutti-inspect" "$out/digits.tutti" --json >"$out/digits.json"
"$bin/digits-demo" "$here" "$out"

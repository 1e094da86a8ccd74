#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What somebody does first with a release that was unpacked: compiles the ten digit classifiers, runs and checks them, with every
# tool. Takes nothing but the tree and a minimal Debian. Usage: try.sh TREE
set -eux
tree=$(realpath "$1")
digits=$tree/share/doc/tutti/examples/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH="$tree/bin:$PATH"
unset LD_LIBRARY_PATH || true

tutti --version
tutti-compile "$digits"/models/member_?.onnx -o digits.tutti --dim batch=1..360 --output logits=members,mean
tutti-run digits.tutti --input image="$digits/images.npy" --output-dir out
test -s out/logits.npy && test -s out/logits.mean.npy
tutti-verify digits.tutti "$digits"/models/member_?.onnx
tutti-inspect digits.tutti --verify
tutti-bench digits.tutti --seconds 0.1 --threads 1
tutti-compile "$digits"/models/member_?.onnx --stop-after batched > batched.mlir
tutti-opt batched.mlir --tutti-decompose --tutti-compose --tutti-numerics --tutti-fuse | grep 'plan.kernel @k0 chain'
printf '{"jsonrpc":"2.0","id":1,"method":"shutdown"}\n// -----\n{"jsonrpc":"2.0","method":"exit"}\n' | tutti-lsp-server -lit-test 2>&1 | grep '"id": 1'

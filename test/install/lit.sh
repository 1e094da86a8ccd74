#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs examples/lit as its reader would: with the tools of the build, and a copy of it with those of an install tree; and it
# fails when what it checks is not so. Usage: lit.sh SOURCE BUILD LIT LLVM_BIN
set -eu
source=$1 build=$2 lit=$3 llvm=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/tutti" > "$work/log"
"$lit" -v --param llvm="$llvm" --param tutti="$build/bin" --param out="$work/a" "$source/examples/lit"
"$lit" -v --param llvm="$llvm" --param tutti="$work/tutti/bin" --param out="$work/b" "$work/tutti/share/doc/tutti/examples/lit"

# Members with trunks of their own: the suite says so.
cp -r "$source/examples/lit" "$work/differs"
sed -i 's/seed = .*/seed = f"trunk of {m}"/' "$work/differs/make_models.py"
if "$lit" --param llvm="$llvm" --param tutti="$build/bin" --param out="$work/c" "$work/differs" > "$work/log"; then
  echo "the suite passes where no trunk is shared"; exit 1
fi
grep "Failed: 1" "$work/log"

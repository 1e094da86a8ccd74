#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The tree that a release packs: every library that a file of it needs is in it, but for those of every Debian 12, each with its
# licence; and its tools load those. Usage: release.sh SOURCE BUILD
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/tutti" > "$work/log"
cmake --install "$build" --prefix "$work/tutti" --component libraries >> "$work/log"

bad=0
for tool in "$work"/tutti/bin/*; do
  ldd "$tool" > "$work/loads" || { echo "ldd $tool fails"; bad=1; }
  if grep '=>' "$work/loads" | grep -v -E "^[[:space:]]*lib(c|m|gcc_s|stdc\+\+|dl|pthread|rt)\.so|=> $work/tutti/|ld-linux"; then
    echo "$tool loads these from outside of the tree"; bad=1
  fi
done
grep -q "libLLVM.* => $work/tutti/" "$work/loads" || { echo "$tool does not load the tree's LLVM"; bad=1; }
licences=$(ls "$work/tutti/share/doc/tutti/licences" | wc -l)
[ "$licences" -ge 3 ] || { echo "$licences licences, expected one for each package"; bad=1; }
du -shL "$work/tutti" "$work/tutti/lib"
"$source/test/install/try.sh" "$work/tutti" > "$work/log" 2>&1 || { cat "$work/log"; bad=1; }
exit $bad

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The runtime's budgets: size, exported symbols, what it and its tools need. Usage: runtime.sh LIBTUTTI.SO TOOL...
set -eu
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

strip -o "$work/stripped" "$library"
bytes=$(stat -c %s "$work/stripped")
echo "stripped: $bytes bytes"
[ "$bytes" -lt 500000 ] || { echo "expected under 500000 bytes"; bad=1; }

# The soname and the functions' version have the minor version, as the header has it.
header=$(dirname "$0")/../../runtime/include/tutti/tutti.h
number() { sed -n "s/^#define TUTTI_VERSION_$1 //p" "$header"; }
node=TUTTI_$(number MAJOR)_$(number MINOR)
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "libtutti.so.$(number MAJOR).$(number MINOR)" ] || { echo "soname $soname, expected libtutti.so.$(number MAJOR).$(number MINOR)"; bad=1; }

others=$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v -E "^tutti_[a-z0-9_]+@@$node\$|^$node(@|\$)" || true)
[ -z "$others" ] || { echo "exported but not named tutti_* of the version $node: $others"; bad=1; }
# Programs of older versions find what they call (symbols.txt: only to be added to), and the header declares all of it.
here=$(dirname "$0")
nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | grep '^tutti_' | LC_ALL=C sort -u > "$work/exported"
sed -n 's/^TUTTI_API .*[ *]\(tutti_[a-z_]*\)(.*/\1/p' "$header" | LC_ALL=C sort -u > "$work/declared"
for list in exported declared; do
  diff "$here/symbols.txt" "$work/$list" || { echo "$list are others than the functions of symbols.txt"; bad=1; }
done
# A program that links the archive may have another FlatBuffers.
others=$(nm -C "${library%.so*}.a" | grep -E ' [WVu] .*[^_]flatbuffers::' || true)
[ -z "$others" ] || { echo "the archive has names that are FlatBuffers' own: $others"; bad=1; }

# No writable global data: no state outside of handles. (The C start-up files put two words there.)
writable=$(size -A "$library" | awk '$1 == ".data" || $1 == ".bss" || $1 == ".tbss" || $1 == ".tdata" { n += $2 } END { print n + 0 }')
[ "$writable" -le 16 ] || { echo "$writable bytes of global mutable state, expected none"; bad=1; }

needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
for need in $(needs "$library"); do
  case $need in
    libc.so.*|libpthread.so.*|libm.so.*|ld-linux-*) ;;
    *) echo "the library needs $need"; bad=1 ;;
  esac
done
for tool in "$@"; do
  if needs "$tool" | grep -i -E 'llvm|mlir|clang'; then
    echo "$tool links the compiler's libraries"
    bad=1
  fi
done
exit $bad

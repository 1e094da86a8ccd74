#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The host's compiler for kernels of the emulated device, after line LINE of FILE has been taken away: TUTTI_WITHOUT=FILE:LINE, a
# skeleton (tutti/head.cuh) or a kernel's own text (k0_16.cu). $TUTTI_REAL_CLANG compiles.
for word; do
  case $word in
    -I*) root=${word#-I} ;;
  esac
done
file=${TUTTI_WITHOUT%:*} line=${TUTTI_WITHOUT##*:}
case $file in
  "") ;;
  tutti/*) sed -i "${line}s/.*//" "$root/$file" || exit 1 ;;
  *) # all kernels lie in one file, each behind its name
    start=$(grep -n "^#line 1 \"$file\"" "$root/kernels.cu" | cut -d: -f1)
    sed -i "$((start + line))s/.*//" "$root/kernels.cu" || exit 1 ;;
esac
exec "$TUTTI_REAL_CLANG" "$@"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model of so many functions, each of which maps the one before."""
import sys

print("func.func private @f0(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
for i in range(1, int(sys.argv[1])):
    name = "@main" if i + 1 == int(sys.argv[1]) else f"private @f{i}"
    print(f"func.func {name}(%x: tensor<4xf32>) -> tensor<4xf32> {{")
    print(f"  %y = tutti.vmap @f{i - 1}(%x) in [-1] out [0] size 1 : (tensor<4xf32>) -> tensor<1x4xf32>")
    print("  %z = tutti.reshape %y : tensor<1x4xf32> -> tensor<4xf32>\n  return %z : tensor<4xf32>\n}")

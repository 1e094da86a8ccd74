# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model of N links, in each of which the link before is read more than once: chain.py mul|swish|coupling N"""
import sys

kind, links = sys.argv[1], int(sys.argv[2])
rows, half = (f'tensor<?x{n}xf32, ["batch"]>' for n in (8, 4))
print(f"func.func @main(%v0: {rows}) -> {rows} {{")
for i in range(links):
    x, y = f"%v{i}", f"%v{i + 1}"
    if kind == "mul":
        print(f"  {y} = tutti.mul {x}, {x} : {rows}, {rows}")
    elif kind == "swish":
        print(f"  %s{i} = tutti.sigmoid {x} : {rows}")
        print(f"  {y} = tutti.mul {x}, %s{i} : {rows}, {rows}")
    else:
        for name, start in (("a", 0), ("b", 4)):
            print(f"  %{name}{i} = tutti.slice {x} from [0, {start}] size [-1, 4] step [1, 1] : {rows}")
        print(f"  %c{i} = tutti.mul %a{i}, %b{i} : {half}, {half}")
        print(f"  {y} = tutti.concat %b{i}, %c{i} axis 1 : {half}, {half}")
print(f"  return %v{links} : {rows}\n}}")

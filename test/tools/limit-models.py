# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model at a limit, as text of the tutti dialect.

    python limit-models.py long COLUMNS | many INPUTS
"""
import sys


def tensor(columns: int) -> str:
    return f'tensor<?x{columns}xf32, #tutti.sizes<batch>>'


def long(n: int) -> str:
    return f"""func.func @main(%x: {tensor(n)}) -> {tensor(n)} {{
  %0 = tutti.exp %x : {tensor(n)}
  %1 = tutti.reduce sum %0 [1] : {tensor(n)}
  %2 = tutti.div %0, %1 : {tensor(n)}, {tensor(1)}
  return %2 : {tensor(n)}
}}"""


def many(n: int) -> str:
    names = [f"%x{i}" for i in range(n)]
    return f"""func.func @main({", ".join(f"{x}: {tensor(1)}" for x in names)}) -> {tensor(n)} {{
  %y = tutti.concat {", ".join(names)} axis 1 : {", ".join(n * [tensor(1)])}
  return %y : {tensor(n)}
}}"""


print({"long": long, "many": many}[sys.argv[1]](int(sys.argv[2])))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as text (.mlir) for calls.py."""
from files import mlir


def weight(name: str, shape: str = "", values: str = "dense<0.5>") -> str:
    return f"tutti.param @{name} : tensor<{shape}f32> {{values = {values} : tensor<{shape}f32>}}"


DAG = "#a0 = [0, 0]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 40))
MANY = "module attributes {tutti.members = 1048576 : i64} {\n" + weight("w") + "\n" + weight("v") + "\n" + mlir("return %x : tensor<2xf32>") + "}\n"

# tutti-compile FILE.mlir -o out/a.tutti
MLIR = [
    (3, "main", ""),
    (3, "mlir", "func.func @main("),
    (3, "mlir", "\0\0\0"),
    (3, "mlir", "module {" * 100),
    (3, "mlir", "#" * 1000),
    *((3, "mlir", mlir("return %x : tensor<2xf32>") + "{-# dialect_resources: { builtin: { p0: \"0x40000000\", p1: \"0x4000"[:n]) for n in (-1, -5, -8, -9, -11)),
    (3, "'active.0' is the ensemble's own", mlir("return %x : tensor<?xf32, #tutti.sizes<active.0>>", "%x: tensor<?xf32, #tutti.sizes<active.0>>", "tensor<?xf32, #tutti.sizes<active.0>>")),
    (3, "mlir", mlir("return %y : tensor<2xf32>")),
    (3, "mlir", mlir("%0 = tutti.no_such_op %x : tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (3, "mlir", mlir("%0 = tutti.tanh %x : tensor<3xf32>\n  return %0 : tensor<3xf32>")),
    (4, "has an alias", mlir("return %x : tensor<2xf32>", head="!t = " + "tuple<" * 300)),
    (3, "main", "func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"),
    (3, "mlir", mlir("return %x : tensor<2xf32>") * 2),
    (3, "mlir", mlir("%0 = tutti.get @w : tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (4, "arith|mlir", mlir("%c = arith.constant dense<1.0> : tensor<2xf32>\n  return %c : tensor<2xf32>")),
    (4, "call|main|mlir", mlir("%0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (3, "mlir", mlir("return %x : tensor<2xf32>", head='tutti.param @w : tensor<4xf32> {values = dense<1.0> : tensor<5xf32>}')),
    (3, "mlir", mlir("return %x : tensor<2xf32>", head='tutti.param @w : tensor<4xf32> {values = dense<"0x00"> : tensor<4xf32>}')),
    (4, "complex|mlir", mlir("return %x : tensor<2xcomplex<f32>>", "%x: tensor<2xcomplex<f32>>", "tensor<2xcomplex<f32>>")),
    (3, "'tutti.no'", (mlir("return %x : tensor<2xf32>") + "tutti.no ").ljust(4096, "/")),  # a page, nothing behind it
    (3, "main|mlir", mlir("return %x : tensor<*xf32>", "%x: tensor<*xf32>", "tensor<*xf32>")),
    (3, "overflow|large|bytes|mlir", mlir("return %x : tensor<4294967296x4294967296xf32>", "%x: tensor<4294967296x4294967296xf32>", "tensor<4294967296x4294967296xf32>")),
    # What says much in few letters.
    (4, "line 1 has an alias", mlir("return %x : tensor<2xf32>", "%x: tensor<2xf32, #a39>", head=DAG)),
    (4, "line 1 has an alias", "#a0 = [0]\n" + "".join(f"#a{i} = [#a{i - 1}]\n" for i in range(1, 30000)) + mlir("return %x : tensor<2xf32>")),
    (4, "an affine map", "module attributes {a = affine_map<(d0) -> (d0" + " mod 3 mod 2" * 20000 + ")>} {\n" + mlir("return %x : tensor<2xf32>") + "}\n"),
    (4, "1048576 members with 2 weights each", MANY),
    (3, "more than 16777216 elements stand in the text", mlir("return %x : tensor<2xf32>", head=weight("w", "16777217x"))),
    (3, "expected elements within axis 0", mlir("%y = tutti.slice %x from [1] size [1] step [-9223372036854775808] : tensor<2xf32>\nreturn %y : tensor<1xf32>", result="tensor<1xf32>")),
    (3, "a resource of alignment 0", mlir("return %x : tensor<2xf32>", head="tutti.param @w : tensor<1xf32> {values = dense_resource<w> : tensor<1xf32>}") +
     '\n{-#\n  dialect_resources: { builtin: { w: "0x0000000000000000" } }\n#-}\n'),
    (3, "'@f' is called by no tutti.vmap that @main comes to", mlir("return %x : tensor<2xf32>", head="func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}")),
]

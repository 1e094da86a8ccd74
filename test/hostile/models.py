# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as text (.mlir) for calls.py that say much in few letters."""
from files import mlir


def weight(name: str, shape: str = "", values: str = "dense<0.5>") -> str:
    return f"tutti.param @{name} : tensor<{shape}f32> {{values = {values} : tensor<{shape}f32>}}"


DAG = "#a0 = [0, 0]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 40))
MANY = "module attributes {tutti.members = 1048576 : i64} {\n" + weight("w") + "\n" + weight("v") + "\n" + mlir("return %x : tensor<2xf32>") + "}\n"

# tutti-compile FILE.mlir -o out/a.tutti
MLIR = [
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

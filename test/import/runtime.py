# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about ops that ONNX Runtime's optimizer writes, beside the ops of ONNX that they stand for."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    def own(op, inputs, outputs="y", **attributes):
        return node(op, inputs, outputs, domain="com.microsoft", **attributes)

    x, w, b = {"x": rng(3, 8)}, rng(8, 5, seed=2), rng(5, seed=3)
    for op in ("Gelu", "FastGelu", "QuickGelu"):
        case(f"runtime-{op.lower()}", 17, [own(op, "x")], x)
    case("runtime-quickgelu-alpha~op", 17, [own("QuickGelu", "x", alpha=1.0)], x)
    case("runtime-quickgelu-alpha~spelled", 17, [node("Sigmoid", "x", "s"), node("Mul", "x s")], x)
    case("runtime-fastgelu-bias", 17, [own("FastGelu", "x b")], x, {"b": rng(8)})
    case("runtime-biasgelu~op", 17, [own("BiasGelu", "x b")], x, {"b": rng(8)})
    case("runtime-biasgelu~spelled", 20, [node("Add", "x b", "a"), node("Gelu", "a")], x, {"b": rng(8)})
    y = {"x": rng(2, 3, 4), "z": rng(2, 3, 4, seed=9)}
    case("runtime-fusedmatmul~op", 17, [own("FusedMatMul", "x z", alpha=0.25, transB=1)], y)
    case("runtime-fusedmatmul~spelled", 17, [node("Transpose", "z", "t", perm=[0, 2, 1]), node("MatMul", "x t", "p"), node("Mul", "p c")], y, {"c": f32(0.25)})
    case("runtime-fusedmatmul-left", 17, [own("FusedMatMul", "x z", transA=1)], y)
    for name, attributes in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Tanh", {}), ("Elu", {"activation_alpha": 0.5}), ("Softplus", {}),
                             ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})):
        case(f"runtime-fusedgemm-{name.lower()}~op", 17, [own("FusedGemm", "x w b", activation=name, transB=1, **attributes)], x, {"w": w.T.copy(), "b": b})
        case(f"runtime-fusedgemm-{name.lower()}~spelled", 17, [node("Gemm", "x w b", "g"), node(name, "g", **{k[11:]: v for k, v in attributes.items()})], x, {"w": w, "b": b})
    skip = {"x": rng(3, 2, 8), "z": rng(3, 2, 8, seed=9)}
    g, o, c = rng(8, seed=4), rng(8, seed=5), rng(8, seed=6)
    case("runtime-skip-norm~op", 17, [own("SkipLayerNormalization", "x z g o c", "y - - s", epsilon=1e-5)], skip, {"g": g, "o": o, "c": c}, outputs="y s")
    case("runtime-skip-norm~spelled", 17, [node("Add", "x z", "a"), node("Add", "a c", "s"), node("LayerNormalization", "s g o", epsilon=1e-5)], skip,
         {"g": g, "o": o, "c": c}, outputs="y s")
    case("runtime-skip-norm-plain", 17, [own("SkipLayerNormalization", "x z g")], skip, {"g": g})
    case("runtime-skip-rms~op", 17, [own("SkipSimplifiedLayerNormalization", "x z g c", "y", epsilon=1e-5)], skip, {"g": g, "c": c})
    case("runtime-skip-rms~spelled", 23, [node("Add", "x z", "a"), node("Add", "a c", "s"), node("RMSNormalization", "s g", epsilon=1e-5)], skip, {"g": g, "c": c})
    # At opsets that are older than the op.
    case("runtime-old-norm", 14, [node("LayerNormalization", "x g o")], x, {"g": g, "o": o})
    case("runtime-old-rms", 14, [node("SimplifiedLayerNormalization", "x g")], x, {"g": g})
    for metric in ("euclidean", "sqeuclidean"):
        case(f"runtime-distances-{metric}", 17, [own("CDist", "x p", metric=metric)], x, {"p": rng(4, 8, seed=7)})

    # Attention of rows whose queries, keys and values are one product.
    rows, w, b = {"x": rng(2, 5, 6)}, rng(6, 24, seed=2), rng(24, seed=3)
    one = {"w": w, "b": b}

    def mask(*shape):
        return (rng(*shape, seed=8) > 0).astype(np.int32)

    def attention(name, inputs, given, inits=one, outputs="y", batch=True, **attributes):
        case(f"runtime-attention{name}", 17, [own("Attention", inputs, outputs, num_heads=2, **attributes)], rows | given, inits, outputs=outputs, batch=batch)

    attention("~op", "x w b", {})
    heads = [node("Reshape", f"{x} cut", f"{x}R") for x in "qkv"]
    turned = [node("Transpose", f"{x}R", f"{x}T", perm=[0, 2, 3, 1] if x == "k" else [0, 2, 1, 3]) for x in "qkv"]
    case("runtime-attention~spelled", 17, [node("MatMul", "x w", "p"), node("Add", "p b", "a"), node("Split", "a thirds", "q k v", axis=2), *heads, *turned,
                                           node("Mul", "qT r", "qs"), node("Mul", "kT r", "ks"), node("MatMul", "qs ks", "s"), node("Softmax", "s", "o", axis=-1),
                                           node("MatMul", "o vT", "h"), node("Transpose", "h", "t", perm=[0, 2, 1, 3]), node("Reshape", "t join")],
         rows, one | {"thirds": i64(8, 8, 8), "cut": i64(0, 0, 2, 4), "r": f32(4 ** -0.25), "join": i64(0, 0, 8)})
    attention("-keys", "x w b m", {"m": mask(2, 5)}, mask_filter_value=-3.0)
    attention("-all-keys", "x w b m", {"m": mask(2, 1)})
    attention("-lengths", "x w b m", {"m": np.array([3, 5], np.int32)}, batch=False)
    attention("-ends", "x w b m", {"m": np.array([3, 5, 1, 0], np.int32)}, batch=False)
    attention("-pairs", "x w - m", {"m": mask(2, 5, 5)}, {"w": w}, unidirectional=1)
    attention("-past", "x w b m p", {"m": mask(2, 8), "p": rng(2, 2, 2, 3, 4, seed=9)}, outputs="y z", batch=False, unidirectional=1)
    attention("-widths", "x w b - - a", {"a": rng(2, 2, 5, 5)}, {"w": rng(6, 22, seed=2), "b": rng(22, seed=3)}, scale=0.3, qkv_hidden_sizes=[8, 8, 6])

    # A norm of the sum of embeddings.
    ids = {"i": np.array([[1, 0, 3], [2, 2, 1]], np.int32), "j": np.array([[0, 0, 1], [1, 0, 0]], np.int32)}
    tables = {"u": rng(4, 8, seed=2), "v": rng(5, 8, seed=3), "w": rng(2, 8, seed=4), "g": rng(8, seed=5), "b": rng(8, seed=6)}
    case("runtime-embeddings~op", 17, [own("EmbedLayerNormalization", "i j u v w g b", "y ones", epsilon=1e-5)], ids, tables)
    case("runtime-embeddings~spelled", 17, [node("Gather", "u i", "a"), node("Add", "a v", "c"), node("Gather", "w j", "d"), node("Add", "c d", "e"),
                                            node("LayerNormalization", "e g b", epsilon=1e-5)], ids, tables | {"v": tables["v"][:3]})
    case("runtime-embeddings-mask", 17, [own("EmbedLayerNormalization", "i - u v - g b m p", "y ones s")],
         {"i": ids["i"], "m": np.array([[1, 1, 0], [1, 0, 0]], np.int32), "p": np.array([[4, 0, 1], [2, 2, 2]], np.int32)}, tables, outputs="y ones s")

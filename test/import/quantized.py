# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about integers that stand for numbers by a scale and a zero point."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    x, u8, i8 = {"x": rng(3, 8)}, lambda *v: np.array(v, np.uint8), lambda *v: np.array(v, np.int8)
    byte = lambda *shape, seed=1, type=np.uint8: (rng(*shape, seed=seed) * 40 + (128 if type == np.uint8 else 0)).clip(np.iinfo(type).min, np.iinfo(type).max).astype(type)
    case("quantize-and-back", 13, [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z")], x, {"s": f32(0.02), "z": np.uint8(120)})
    case("quantize", 10, [node("QuantizeLinear", "x s")], x, {"s": f32(0.01)})
    case("quantize-halves", 13, [node("QuantizeLinear", "x s z")], {"x": np.arange(-600, 600, 5, dtype=np.float32).reshape(5, 48) / 2}, {"s": f32(1), "z": np.int8(3)})
    case("quantize-rows-of-channels", 13, [node("QuantizeLinear", "x s z", axis=1), ], {"x": rng(2, 3, 4)}, {"s": np.array([.01, .02, .5], np.float32), "z": i8(0, 5, -9)})
    case("quantize-last-axis", 19, [node("QuantizeLinear", "x s z", "q", axis=-1), node("DequantizeLinear", "q s z", axis=-1)], {"x": rng(2, 3, 4)},
         {"s": np.array([.01, .02, .5, .03], np.float32), "z": u8(0, 5, 9, 200)})
    case("quantize-16-bits", 21, [node("QuantizeLinear", "x s", "q", output_dtype=5), node("DequantizeLinear", "q s")], x, {"s": f32(1e-4)})
    case("quantize-blocks", 21, [node("QuantizeLinear", "x s z", "q", axis=1, block_size=3), node("DequantizeLinear", "q s z", axis=1, block_size=3)], {"x": rng(2, 8)},
         {"s": np.abs(rng(2, 3, seed=4)) / 50 + f32(.01), "z": byte(2, 3, seed=5)}, batch=False)
    case("dequantize-weight", 19, [node("DequantizeLinear", "q s z", "w", axis=1), node("MatMul", "x w")], x, {"q": byte(8, 5, type=np.int8), "s": np.abs(rng(5)) / 50, "z": i8(0, 0, 0, 0, 0)})
    case("dequantize-bias", 13, [node("DequantizeLinear", "q s", "b"), node("Add", "x b")], x, {"q": (rng(8) * 1e6).astype(np.int32), "s": f32(1e-6)})
    case("dequantize-float16", 19, [node("DequantizeLinear", "x s", "h"), node("Cast", "h", to=1)], {"x": byte(3, 8, type=np.int8)}, {"s": np.float16(.03)})
    case("quantize-dynamically", 11, [node("DynamicQuantizeLinear", "x", "y s z")], x, outputs="y s z", batch=False)
    case("quantize-zeros-dynamically", 11, [node("DynamicQuantizeLinear", "x", "y s z")], {"x": np.zeros((2, 3), np.float32)}, outputs="y s z", batch=False)
    case("product-of-bytes", 10, [node("MatMulInteger", "x w")], {"x": byte(3, 8)}, {"w": byte(8, 5, type=np.int8)})
    case("product-of-shifted-bytes", 10, [node("MatMulInteger", "x w z v")], {"x": byte(3, 8)}, {"w": byte(8, 5), "z": np.uint8(130), "v": u8(120, 130, 0, 255, 7)})
    # Sums past what a float32 holds exactly.
    case("product-of-many-bytes", 10, [node("MatMulInteger", "x w z v")], {"x": np.full((2, 1000), 255, np.uint8)}, {"w": np.full((1000, 3), 254, np.uint8) + u8(0, 1, 1), "z": np.uint8(0), "v": np.uint8(0)})
    case("product-quantized", 10, [node("QLinearMatMul", "x s z w t v u o")], {"x": byte(3, 8)},
         {"s": f32(.02), "z": np.uint8(128), "w": byte(8, 5, type=np.int8), "t": f32(.013), "v": np.int8(-3), "u": f32(.05), "o": np.uint8(110)})

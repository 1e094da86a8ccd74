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
    # Layers as quantizers write them: a product of bytes, whatever is beside it.
    def layer(name, product, **inits):
        case(name, 19, [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "a"), node("DequantizeLinear", "w t v", "b", axis=inits.pop("axis", 1)), *product],
             {"x": inits.pop("x", rng(3, 8))}, inits)

    layer("layer-quantized", [node("MatMul", "a b")], s=f32(.02), z=np.uint8(120), w=byte(8, 5, type=np.int8), t=np.abs(rng(5)) / 50, v=i8(0, 0, 0, 0, 0))
    layer("layer-quantized-wide", [node("MatMul", "a b", "p"), node("Add", "p c")], x=rng(3, 37), s=f32(.02), z=np.int8(-5), w=byte(37, 70), t=f32(.013), v=np.uint8(131), c=rng(70))
    layer("layer-quantized-transposed", [node("Gemm", "a b c", alpha=0.5, transB=1)], x=rng(3, 7), axis=0, s=f32(.02), z=np.int8(0), w=byte(5, 7, type=np.int8), t=np.abs(rng(5)) / 50,
          v=i8(0, 3, -3, 7, 0), c=rng(5))
    case("layer-quantized-half-scales", 23, [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "a"), node("DequantizeLinear", "w t", "b", output_dtype=1), node("MatMul", "a b")],
         {"x": rng(3, 8)}, {"s": f32(.02), "z": np.uint8(120), "w": byte(8, 5, type=np.int8), "t": np.float16(.02)})
    layer("layer-quantized-rows", [node("MatMul", "a b")], x=rng(2, 3, 8), s=f32(.02), z=np.uint8(0), w=byte(8, 5, type=np.int8), t=f32(.02), v=np.int8(0))
    layer("layer-quantized-by-rows", [node("MatMul", "a b")], axis=0, s=f32(.02), z=np.uint8(120), w=byte(8, 5, type=np.int8), t=np.abs(rng(8)) / 50, v=i8(*range(8)))

    image, filters = {"x": byte(2, 3, 6, 6)}, byte(4, 3, 3, 3, type=np.int8)
    case("convolution-of-bytes", 10, [node("ConvInteger", "x w z", pads=[1, 1, 1, 1])], image, {"w": filters, "z": np.uint8(130)})
    case("convolution-of-many-bytes", 10, [node("ConvInteger", "x w")], {"x": byte(2, 40, 4, 4)}, {"w": byte(2, 40, 3, 3, type=np.int8)})
    case("convolution-quantized", 13, [node("QLinearConv", "x s z w t v u o c", "q"), node("DequantizeLinear", "q u o")], image,
         {"s": f32(.02), "z": np.uint8(130), "w": filters, "t": np.abs(rng(4)) / 50, "v": i8(0, 0, 0, 0), "u": f32(.4), "o": np.uint8(120), "c": (rng(4) * 1000).astype(np.int32)})

    # ONNX Runtime's own.
    def own(op, inputs, outputs="y", **attributes):
        return node(op, inputs, outputs, domain="com.microsoft", **attributes)

    def around(name, op, inits, inputs={"x": byte(3, 8)}, **attributes):
        """An op whose output is quantized by u and o, read as what it stands for."""
        case(name, 13, [own(op, inits.pop("inputs"), "q", **attributes), node("DequantizeLinear", "q u o")], inputs, {"u": f32(.03), "o": np.uint8(128), **inits})

    one = {"s": f32(.02), "z": np.uint8(128)}
    two = {**one, "t": f32(.013), "v": np.uint8(111)}
    around("runtime-qgemm", "QGemm", {"inputs": "x s z w t v c u o", **one, "w": byte(5, 8, type=np.int8), "t": np.abs(rng(5)) / 50, "v": i8(0, 0, 0, 0, 0),
                                      "c": (rng(5) * 1000).astype(np.int32), "u": f32(.2)}, transB=1)
    case("runtime-qgemm-float", 13, [own("QGemm", "x s z w t v", alpha=0.5)], {"x": byte(3, 8)}, {**one, "w": byte(8, 5, type=np.int8), "t": f32(.01), "v": np.int8(0)})
    around("runtime-qlinearadd", "QLinearAdd", {"inputs": "x s z w t v u o", **two, "w": byte(8)})
    around("runtime-qlinearmul", "QLinearMul", {"inputs": "x s z w t v u o", **two, "w": byte(3, 8, seed=5)})
    around("runtime-qlinearsigmoid", "QLinearSigmoid", {"inputs": "x s z u o", **one, "u": f32(1 / 256), "o": np.uint8(0)})
    around("runtime-qlinearleakyrelu", "QLinearLeakyRelu", {"inputs": "x s z u o", **one}, alpha=0.2)
    around("runtime-qlinearsoftmax", "QLinearSoftmax", {"inputs": "x s z u o", **one, "u": f32(1 / 256), "o": np.uint8(0)}, axis=-1, opset=13)
    around("runtime-qlinearconcat", "QLinearConcat", {"inputs": "u o x s z x t v", **two}, axis=1)
    around("runtime-qlinearglobalaveragepool", "QLinearGlobalAveragePool", {"inputs": "x s z u o", **one}, image)
    around("runtime-qlinearaveragepool", "QLinearAveragePool", {"inputs": "x s z u o", **one}, image, kernel_shape=[2, 2], strides=[2, 2])
    case("runtime-matmulintegertofloat", 13, [own("MatMulIntegerToFloat", "x w s t z v c")], {"x": byte(3, 8)},
         {**one, "w": byte(8, 5), "t": np.abs(rng(5)) / 50, "v": u8(120, 130, 0, 255, 7), "c": rng(5)})
    case("runtime-dynamicquantizematmul", 13, [own("DynamicQuantizeMatMul", "x w t v c")], {"x": rng(3, 8)}, {"w": byte(8, 5), "t": f32(.02), "v": np.uint8(120), "c": rng(5)}, batch=False)
    case("runtime-quantizelinear", 13, [own("QuantizeLinear", "x s z", "q"), own("DequantizeLinear", "q s z")], {"x": rng(3, 8)}, {"s": f32(1e-4), "z": np.uint16(30000)})

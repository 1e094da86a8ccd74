# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_inputs.py that resample along axes of known lengths, at every opset where Resize changed, and as Upsample."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    line, image = {"x": rng(2, 3, 5)}, {"x": rng(2, 3, 4, 6)}
    factors = lambda *values: np.array(values, np.float32)

    for opset, named in ((7, {"scales": [1.0, 1.0, 2.0]}), (9, {})):
        for mode in ("nearest", "linear"):
            case(f"upsample-{mode}-{opset}", opset, [node("Upsample", "x" if named else "x s", mode=mode, **named)], line, {} if named else {"s": factors(1, 1, 2)})
    case("resize-10", 10, [node("Resize", "x up", "y"), node("Resize", "y down", "z", mode="linear")], line, {"up": factors(1, 1, 3), "down": factors(1, 1, 0.5)}, outputs="z")
    case("resize-10-down", 10, [node("Resize", "x s")], line, {"s": factors(1, 1, 0.6)})
    # As TorchScript writes it: the sizes are the input's own, and a number.
    case("resize-torch", 18, [node("Shape", "x", "s"), node("Slice", "s from to", "front"), node("Concat", "front long", "l", axis=0),
                              node("Resize", "x - - l", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75, mode="linear", nearest_mode="floor")],
         line, {"from": i64(0), "to": i64(2), "long": i64(12)})
    nothing = np.zeros(0, np.float32)
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"):
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            case(f"resize-nearest-{coordinates}-{rounding}", 11, [node("Resize", "x r s l", mode="nearest", coordinate_transformation_mode=coordinates, nearest_mode=rounding)],
                 line, {"r": nothing, "s": nothing, "l": i64(2, 3, 10)}, batch=False)
    for rounding, length in (("round_prefer_floor", 19), ("round_prefer_ceil", 39)): # float32 errs in the middle between two
        case(f"resize-nearest-between-{rounding}", 18, [node("Resize", "x - - l", mode="nearest", nearest_mode=rounding)], {"x": rng(2, 3, 14)}, {"l": i64(2, 3, length)}, batch=False)
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"):
        for mode in ("linear", "cubic"):
            case(f"resize-{mode}-{coordinates}", 11, [node("Resize", "x r s", mode=mode, coordinate_transformation_mode=coordinates)],
                 image, {"r": nothing, "s": factors(1, 1, 1.5, 0.5)})
    case("resize-symmetric", 19, [node("Resize", "x - s", mode="linear", coordinate_transformation_mode="half_pixel_symmetric")], line, {"s": factors(1, 1, 1.3)})
    case("resize-inside", 13, [node("Resize", "x - s", mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)], image, {"s": factors(1, 1, 2, 1.5)})
    case("resize-smooth-linear", 18, [node("Resize", "x - - l", mode="linear", antialias=1, axes=[-2, -1])], {"x": rng(2, 3, 8, 12)}, {"l": i64(3, 5)})
    case("resize-smooth-cubic", 18, [node("Resize", "x - - l", mode="cubic", antialias=1, exclude_outside=1, axes=[3, 2])], {"x": rng(2, 3, 8, 12)}, {"l": i64(5, 3)})
    for policy in ("not_larger", "not_smaller"):
        case(f"resize-{policy}", 18, [node("Resize", "x - - l", mode="nearest", axes=[2, 3], keep_aspect_ratio_policy=policy)], image, {"l": i64(8, 9)})
    case("resize-one", 13, [node("Resize", "x - s", mode="linear")], {"x": rng(2, 3, 1)}, {"s": factors(1, 1, 7)})
    case("resize-same", 13, [node("Resize", "x - s", "r", mode="linear"), node("Neg", "r")], line, {"s": factors(1, 1, 1)})
    case("resize-float16", 13, [node("Resize", "x - s", mode="linear")], {"x": rng(2, 3, 5).astype(np.float16)}, {"s": factors(1, 1, 3)})
    case("resize-float64", 13, [node("Resize", "x - s", mode="linear")], {"x": rng(2, 3, 5).astype(np.float64)}, {"s": factors(1, 1, 3)})
    case("resize-integers", 13, [node("Resize", "x - s", mode="nearest")], {"x": np.arange(30, dtype=np.int32).reshape(2, 3, 5)}, {"s": factors(1, 1, 3)})
    # The backcast of an N-HiTS block: a layer's few numbers along a line, taken off the input.
    case("resize-behind-layer", 18, [node("MatMul", "v w", "k"), node("Unsqueeze", "k a", "u"), node("Resize", "u - s", "r", mode="linear"), node("Squeeze", "r a", "q"), node("Sub", "v q")],
         {"v": rng(3, 8)}, {"w": rng(8, 4, seed=3), "a": i64(1), "s": factors(1, 1, 2)})

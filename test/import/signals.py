# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_inputs.py that transform signals: Fourier transforms of known lengths, windows."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    real, both = {"x": rng(3, 8, 1)}, {"x": rng(3, 8, 2)}
    plane = {"x": rng(2, 6, 5, 1)}
    number = lambda value: np.array(value, np.int64)

    case("dft-attribute", 17, [node("DFT", "x")], both)
    case("dft-real", 20, [node("DFT", "x")], real)
    case("dft-half", 20, [node("DFT", "x", onesided=1)], real)
    case("dft-half-odd", 20, [node("DFT", "x n", onesided=1)], real, {"n": number(7)})
    case("dft-longer", 20, [node("DFT", "x n a")], both, {"n": number(11), "a": number(1)})
    case("dft-inverse", 20, [node("DFT", "x", inverse=1)], both)
    case("dft-inverse-real", 20, [node("DFT", "x", inverse=1)], real)
    # What torch.fft.fft2(x).real is, and a spectrum's few lowest numbers times weights, there and back.
    case("dft-plane", 20, [node("DFT", "x - a", "f"), node("DFT", "f - b", "g"), node("Gather", "g c", axis=-1)], plane,
         {"a": number(2), "b": number(1), "c": number(0)})
    case("dft-layer", 20, [node("DFT", "x", "f", onesided=1), node("Slice", "f from to along", "low"), node("Mul", "low w", "m"),
                           node("Pad", "m p", "all"), node("DFT", "all", inverse=1)],
         real, {"from": i64(0), "to": i64(3), "along": i64(1), "w": rng(3, 2), "p": i64(0, 0, 0, 0, 5, 0)})
    case("dft-there-and-back", 20, [node("DFT", "x", "f", onesided=1), node("DFT", "f n", inverse=1, onesided=1)], real, {"n": number(8)})
    case("dft-back-odd", 20, [node("DFT", "x n", inverse=1, onesided=1)], {"x": rng(3, 4, 2)}, {"n": number(7)})
    case("dft-back-shorter", 20, [node("DFT", "x n", inverse=1, onesided=1)], {"x": rng(3, 6, 2)}, {"n": number(6)})
    case("dft-float64", 20, [node("DFT", "x")], {"x": rng(3, 12, 2).astype(np.float64)})

    signal = {"x": rng(2, 20, 1)}
    case("stft-window", 17, [node("STFT", "x step w")], signal, {"step": number(3), "w": np.abs(rng(8))})
    case("stft-length", 17, [node("STFT", "x step - n", onesided=0)], signal, {"step": number(4), "n": number(8)})
    case("stft-hann", 17, [node("HannWindow", "n", "w"), node("STFT", "x step w n")], signal, {"step": number(4), "n": number(8)})
    for name in ("Hann", "Hamming", "Blackman"):
        case(f"window-{name.lower()}", 17, [node(f"{name}Window", "n", "w"), node(f"{name}Window", "n", "v", periodic=0, output_datatype=1),
                                             node("Sub", "w v", "d"), node("Add", "w d", "e"), node("Mul", "x e")], {"x": rng(3, 9)}, {"n": number(9)})

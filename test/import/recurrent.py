# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_inputs.py with recurrent ops over a known number of steps: directions, layouts, lengths, every attribute."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    steps, rows, width, state = 4, 3, 5, 6
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}

    def weights(op, directions=1):
        size = gates[op] * state
        return {"w": 0.4 * rng(directions, size, width, seed=2), "r": 0.4 * rng(directions, size, state, seed=3), "b": 0.3 * rng(directions, 2 * size, seed=4)}

    def initial(op, directions=1):
        return {"h": rng(directions, rows, state, seed=5), **({"c": rng(directions, rows, state, seed=6)} if op == "LSTM" else {})}

    x = {"x": rng(steps, rows, width)}
    lengths = {"n": np.array([4, 1, 3], np.int32)}
    for op in gates:
        outputs, states = "y h_n" + (" c_n" if op == "LSTM" else ""), "h c" if op == "LSTM" else "h"
        name = f"recurrent-{op.lower()}"
        attributes = {"hidden_size": state}
        case(f"{name}-7", 7, [node(op, f"x w r b - {states}", outputs, **attributes)], {**x, **initial(op)}, weights(op), outputs, batch=False)
        case(f"{name}-22", 22, [node(op, "x w r", outputs, **attributes)], x, {k: v for k, v in weights(op).items() if k != "b"}, outputs, batch=False)
        case(f"{name}-backwards", 14, [node(op, "x w r b", outputs, direction="reverse", **attributes)], x, weights(op), outputs, batch=False)
        case(f"{name}-both", 14, [node(op, f"x w r b - {states}", outputs, direction="bidirectional", **attributes)], {**x, **initial(op, 2)}, weights(op, 2), outputs, batch=False)
        case(f"{name}-lengths", 14, [node(op, f"x w r b n {states}", outputs, direction="bidirectional", **attributes)],
             {**x, **lengths, **initial(op, 2)}, weights(op, 2), outputs, batch=False)
        case(f"{name}-clip", 14, [node(op, "x w r b", outputs, clip=0.5, **attributes)], x, weights(op), outputs, batch=False)
        functions = {"RNN": ["Softsign"], "GRU": ["HardSigmoid", "ScaledTanh"], "LSTM": ["HardSigmoid", "Relu", "Softplus"]}[op]
        case(f"{name}-functions", 14, [node(op, "x w r b", outputs, activations=functions, activation_alpha=[0.3, 1.5], activation_beta=[0.4, 0.7], **attributes)],
             x, weights(op), outputs, batch=False)
        # As torch exports batch_first: rows come first outside, and vary with the call.
        case(f"{name}-rows-first", 14, [node("Transpose", "v", "x", perm=[1, 0, 2]), node(op, "x w r b", "s -", **attributes), node("Squeeze", "s a", "t"), node("Transpose", "t", perm=[1, 0, 2])],
             {"v": rng(rows, steps, width)}, {**weights(op), "a": i64(1)})
    # ONNX Runtime has no such layout: the same by transpositions.
    case("recurrent-layout", 14, [node("LSTM", "x w r b - h c", "y h_n c_n", layout=1, hidden_size=state)],
         {"x": rng(rows, steps, width), "h": rng(rows, 1, state, seed=5), "c": rng(rows, 1, state, seed=6)}, weights("LSTM"), "y h_n c_n")
    # As Keras' layers are exported, which give their last state alone.
    case("recurrent-left-out", 14, [node("LSTM", "x w r b - h c", "- h_n c_n", hidden_size=state)], {**x, **initial("LSTM")}, weights("LSTM"), "h_n c_n", batch=False)
    case("recurrent-gru-reset", 14, [node("GRU", "x w r b - h", "y h_n", linear_before_reset=1, hidden_size=state)], {**x, **initial("GRU")}, weights("GRU"), "y h_n", batch=False)
    case("recurrent-gru-reset-first", 14, [node("GRU", "x w r b", "y h_n", linear_before_reset=1, hidden_size=state)], x, weights("GRU"), "y h_n", batch=False)
    case("recurrent-lstm-peepholes", 14, [node("LSTM", "x w r b - h c p", "y h_n c_n", hidden_size=state)], {**x, **initial("LSTM")},
         {**weights("LSTM"), "p": rng(1, 3 * state, seed=7)}, "y h_n c_n", batch=False)
    case("recurrent-lstm-coupled", 14, [node("LSTM", "x w r b - h c", "y h_n c_n", input_forget=1, hidden_size=state)], {**x, **initial("LSTM")}, weights("LSTM"), "y h_n c_n", batch=False)
    for function in ("LeakyRelu", "Elu", "ThresholdedRelu"):
        case(f"recurrent-rnn-{function.lower()}", 14, [node("RNN", "x w r b", "y h_n", activations=[function], hidden_size=state, activation_alpha=[0.3])], x, weights("RNN"), "y h_n",
             batch=False)
    case("recurrent-rnn-affine", 14, [node("RNN", "x w r b", "y h_n", activations=["Affine"], hidden_size=state, activation_alpha=[0.5], activation_beta=[0.25])], x, weights("RNN"), "y h_n", batch=False)
    case("recurrent-float64", 14, [node("GRU", "x w r", "y h_n", hidden_size=state)], {"x": rng(steps, rows, width).astype(np.float64)},
         {k: v.astype(np.float64) for k, v in weights("GRU").items() if k != "b"}, "y h_n", batch=False)
    # A state of zeros that is given: an infinity times 0 is a NaN.
    infinite = weights("RNN")["r"].copy()
    infinite[0, 1, 2] = np.inf
    case("recurrent-zeros", 14, [node("RNN", "x w r b - h", "y h_n", hidden_size=state)], x, {**weights("RNN"), "r": infinite, "h": np.zeros((1, rows, state), np.float32)}, "y h_n", batch=False)
    # The last step alone is read: the others are put together nowhere.
    case("recurrent-last", 14, [node("Transpose", "v", "x", perm=[1, 0, 2]), node("LSTM", "x w r b", "s -", hidden_size=state), node("Squeeze", "s a", "t"),
                                node("Transpose", "t", "u", perm=[1, 0, 2]), node("Gather", "u last", "l", axis=1), node("MatMul", "l m")],
         {"v": rng(rows, steps, width)}, {**weights("LSTM"), "a": i64(1), "last": np.array(-1, np.int64), "m": rng(state, 3, seed=8)})

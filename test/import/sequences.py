# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about sequences of tensors, and the tensors alone that say the same."""
from onnx import TensorProto, helper


def add_cases(case, node, rng, i64, f32):
    x = {"x": rng(3, 8)}
    halves = [node("Tanh", "a", "c"), node("Mul", "c b")]
    case("sequence-chunks~split", 18, [node("Split", "x", "a b", axis=1, num_outputs=2), *halves], x)
    case("sequence-chunks~scalar", 18, [node("SplitToSequence", "x four", "s", axis=1), node("SequenceAt", "s zero", "a"),
                                        node("SequenceAt", "s one", "b"), *halves], x, {"four": i64(4)[0], "zero": i64(0)[0], "one": i64(1)[0]})
    case("sequence-chunks~lengths", 11, [node("SplitToSequence", "x l", "s", axis=-1), node("SequenceAt", "s p", "a"), node("SequenceAt", "s q", "b"),
                                         *halves], x, {"l": i64(4, 4), "p": i64(-2)[0], "q": i64(-1)[0]})
    case("sequence-chunks~computed", 18, [node("Shape", "x", "n", start=1), node("Div", "n two", "l"), node("Squeeze", "l", "k"),
                                          node("SplitToSequence", "x k", "s", axis=1), node("Identity", "s", "t"), node("SequenceLength", "t", "e"),
                                          node("Sub", "e one", "q"), node("SequenceAt", "t q", "b"), node("SequenceErase", "t q", "u"),
                                          node("SequenceAt", "u zero", "a"), *halves], x, {"two": i64(2), "zero": i64(0)[0], "one": i64(1)[0]})
    case("sequence-unbind~slices", 18, [node("Gather", "x zero", "a", axis=1), node("Gather", "x one", "b", axis=1), node("Sub", "b a")], {"x": rng(3, 2, 4)},
         {"zero": i64(0)[0], "one": i64(1)[0]})
    case("sequence-unbind~sequence", 18, [node("SplitToSequence", "x", "s", axis=1, keepdims=0), node("SequenceAt", "s zero", "a"),
                                          node("SequenceAt", "s one", "b"), node("Sub", "b a")], {"x": rng(3, 2, 4)}, {"zero": i64(0)[0], "one": i64(1)[0]})
    case("sequence-uneven", 18, [node("SplitToSequence", "x three", "s", axis=1), node("SequenceErase", "s one", "t"), node("ConcatFromSequence", "t", axis=1)], x,
         {"three": i64(3)[0], "one": i64(1)[0]})
    case("sequence-ones", 18, [node("SplitToSequence", "x", "s", axis=1), node("SequenceErase", "s", "t"), node("ConcatFromSequence", "t", axis=0)], x, batch=False)
    case("sequence-build", 18, [node("SequenceEmpty", [], "e"), node("SequenceInsert", "e x", "a"), node("Neg", "x", "m"), node("SequenceInsert", "a m zero", "b"),
                                node("Tanh", "x", "t"), node("SequenceInsert", "b t last", "c"), node("ConcatFromSequence", "c", axis=1)], x,
         {"zero": i64(0)[0], "last": i64(-1)[0]})
    case("sequence-stack~ops", 13, [node("Neg", "x", "m"), node("Unsqueeze", "x a", "p"), node("Unsqueeze", "m a", "q"), node("Concat", "p q", axis=1)], x, {"a": i64(1)})
    case("sequence-stack~sequence", 13, [node("Neg", "x", "m"), node("SequenceConstruct", "x m", "s"), node("ConcatFromSequence", "s", axis=1, new_axis=1)], x)
    case("sequence-integers", 13, [node("SequenceEmpty", [], "e", dtype=TensorProto.INT64), node("Shape", "x", "s"), node("SequenceInsert", "e s", "f"),
                                   node("SequenceInsert", "f w", "g"), node("ConcatFromSequence", "g", "n", axis=0), node("Reshape", "x n")], {"x": rng(3, 8)},
         {"w": i64(1)})
    body = helper.make_graph(
        [node("Neg", "h", "g"), node("SequenceInsert", "s g", "t"), node("Identity", "go", "on")], "step",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("h", TensorProto.FLOAT, None), helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("g", TensorProto.FLOAT, None),
         helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)])
    case("sequence-loop", 18, [node("SequenceEmpty", [], "e"), node("Loop", "n - x e", "h s", body=body), node("ConcatFromSequence", "s", "y", axis=1)], x, {"n": i64(3)[0]})
    # As torch.column_stack is exported: a branch by the rank, in a map. The body sees the graph's own w, and has a second sequence and a tensor.
    value, tensor = helper.make_tensor_value_info, TensorProto.FLOAT
    kept, turned = (helper.make_graph([node(op, "t", "r")], op, [], [value("r", tensor, None)]) for op in ("Identity", "Neg"))
    each = helper.make_graph(
        [node("Size", "t", "n"), node("Equal", "n none", "c"), node("If", "c", "r", then_branch=turned, else_branch=kept), node("Mul", "r o", "m"),
         node("MatMul", "m w", "p"), node("Add", "p a", "q")], "each", [value(n, tensor, None) for n in "toa"], [value(n, tensor, None) for n in "qm"])
    given, weights = {"x": rng(3, 8), "a": rng(3, 5)}, {"w": rng(4, 5), "four": i64(4)[0], "none": i64(0)[0]}
    case("sequence-map~map", 18, [node("SplitToSequence", "x four", "s", axis=1), node("Exp", "x", "e"), node("SplitToSequence", "e four", "t", axis=1),
                                  node("SequenceMap", "s t a", "u v", body=each), node("ConcatFromSequence", "u", axis=1), node("ConcatFromSequence", "v", "z", axis=1)],
         given, weights, "y z")
    case("sequence-map~unrolled", 18, [node("Split", "x", "b c", axis=1, num_outputs=2), node("Exp", "x", "e"), node("Split", "e", "f g", axis=1, num_outputs=2),
                                       node("Mul", "b f", "m"), node("MatMul", "m w", "p"), node("Add", "p a", "q"), node("Mul", "c g", "n"), node("MatMul", "n w", "r"),
                                       node("Add", "r a", "s"), node("Concat", "q s", axis=1), node("Concat", "m n", "z", axis=1)],
         given, {"w": weights["w"]}, "y z")

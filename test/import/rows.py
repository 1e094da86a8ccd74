# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_inputs.py that number the rows of a batch to take or to put what is each row's own, x[arange(batch), i], as exporters spell it."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    x, tokens = {"x": rng(3, 8)}, {"x": rng(2, 6, 4)}
    columns, one = i64(1, 5, 2), i64(1)
    zero, step, first, last = np.array(0, np.int64), np.array(1, np.int64), i64(0), i64(-1)
    numbers = {"zero": zero, "step": step, "first": first, "one": one, "last": last}
    # The batch's length, and the rows' numbers.
    count = [node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Range", "zero n step", "r")]

    def tuples(places, shape):
        """Of a row's number and `places`, broadcast against each other."""
        return [node("Unsqueeze", "r one", "r1"), node("Max", f"r1 {places}", "m"), node("Shape", "m", shape), node("Expand", f"r1 {shape}", "r2"),
                node("Expand", f"{places} {shape}", "p2"), node("Unsqueeze", "r2 last", "r3"), node("Unsqueeze", "p2 last", "p3"),
                node("Concat", "r3 p3", "t", axis=-1)]

    # Columns that are the same for all rows.
    case("own-columns~tuples", 17, [*count, *tuples("i", "both"), node("GatherND", "x t")], x, numbers | {"i": columns.reshape(1, 3)})
    case("own-columns~flat", 17, [*count, node("Unsqueeze", "r one", "c"), node("Mul", "c width", "f"), node("Add", "i f", "at"),
                                  node("Reshape", "x last", "all"), node("Gather", "all at")],
         x, numbers | {"i": columns, "width": i64(8)})
    case("own-columns~plain", 17, [node("Gather", "x i", axis=1)], x, {"i": columns})
    # A token of each row, found in it.
    found = node("ArgMax", "g", "a", axis=1, keepdims=0)
    score = node("Gather", "x zero", "g", axis=2)
    case("own-token~tuples", 17, [*count, score, found, node("Unsqueeze", "r last", "r1"), node("Unsqueeze", "a last", "a1"),
                                  node("Concat", "r1 a1", "t", axis=-1), node("GatherND", "x t")], tokens, numbers)
    case("own-token~flat", 17, [*count, score, found, node("Mul", "r length", "f"), node("Add", "f a", "at"),
                                node("Reshape", "x flat", "all"), node("Gather", "all at")],
         tokens, numbers | {"length": np.array(6, np.int64), "flat": i64(-1, 4)})
    case("own-token~batch", 17, [score, found, node("Unsqueeze", "a last", "t"), node("GatherND", "x t", batch_dims=1)], tokens, numbers)
    # Places that are known to stay in the row: those of its largest elements, and a caller's that are clipped.
    begin = [*count, node("Unsqueeze", "r one", "c"), node("Mul", "c width", "f")]
    flat = [node("Reshape", "x last", "all"), node("Gather", "all at")]
    width = numbers | {"width": i64(8)}
    case("own-largest", 17, [*begin, node("TopK", "x three", "v t", axis=1), node("Add", "f t", "at"), *flat], x, width | {"three": i64(3)})
    case("own-clipped", 17, [*begin, node("Clip", "i low high", "k"), node("Sub", "k step", "b"), node("Add", "b f", "at"), *flat],
         x | {"i": i64(0, 8, 1, -3, 99)}, width | {"low": np.array(1, np.int64), "high": np.array(8, np.int64)})
    # Two places behind the row's number; the rows stand behind another axis of the tuples.
    case("own-pair", 17, [*count, node("Unsqueeze", "n first", "n1"), node("Concat", "three n1 one", "wide", axis=0),
                          node("Concat", "three n1 two", "wider", axis=0), node("Unsqueeze", "r last", "r1"), node("Unsqueeze", "r1 first", "r2"),
                          node("Expand", "r2 wide", "r3"), node("Expand", "i wider", "i3"), node("Concat", "r3 i3", "t", axis=-1),
                          node("GatherND", "x t", "z"), node("Transpose", "z", perm=[1, 0])],
         tokens, numbers | {"three": i64(3), "two": i64(2), "i": i64([0, -1], [5, 2], [3, 0]).reshape(3, 1, 2)})
    # Rows as they are, behind a mask that is true of every number, and indices counted from the end.
    case("own-rows", 17, [*count, node("GreaterOrEqual", "r zero", "ge"), node("Less", "r n", "lt"), node("And", "ge lt", "mask"),
                          node("Less", "r zero", "below"), node("Add", "r n", "wrapped"), node("Where", "below wrapped r", "at"),
                          node("Gather", "x at", "g"), node("Unsqueeze", "mask one", "m1"), node("Where", "m1 g none")],
         x, numbers | {"none": f32(7)})
    # Put into each row: a number to known columns, and another to a found one.
    case("own-put", 18, [*count, *tuples("i", "both"), node("Gather", "x c", "u", axis=1), node("ScatterND", "x t u")], x,
         numbers | {"i": columns.reshape(1, 3), "c": i64(0, 0, 7)})
    case("own-put-found", 18, [*count, score, found, node("Unsqueeze", "r last", "r1"), node("Unsqueeze", "a last", "a1"),
                               node("Concat", "r1 a1", "t", axis=-1), node("ReduceMean", "x one", "u", keepdims=0),
                               node("ScatterND", "x t u", reduction="add")], tokens, numbers)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks of layers, as ONNX files made by hand: what decides CUDA code, of every width that leaves a remainder."""
import array
import random
import struct
import sys

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402

NARROW = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 20]
MIDDLE = NARROW + [23, 24, 25, 28, 31, 32, 33, 36, 40, 44, 47, 48, 49, 52, 60, 63, 64, 65, 68, 72]
WIDE = [80, 96, 97, 100, 112, 127, 128, 129, 130, 144, 160, 192, 200, 224, 255, 256, 257, 260, 300, 320, 384, 400, 512, 520]
STYLES = {  # widths, least and most steps, how many of 100 inputs have tokens, how often a step is a layer
    "mlp": (MIDDLE + WIDE, 2, 9, 10, 140),
    "mix": (MIDDLE + WIDE, 2, 9, 10, 60),
    "wide": (WIDE[3:] + [768, 1024], 2, 5, 10, 60),
    "tokens": (MIDDLE, 3, 9, 100, 60),
    "small": (NARROW, 3, 12, 10, 60),
    "deep": (MIDDLE, 8, 24, 10, 60),
    "patches": (MIDDLE, 2, 7, 100, 30),
    "again": (MIDDLE[20:] + WIDE[:8], 1, 3, 20, 35),
}


class Network:
    """A member of the ensemble `seed`. Members of one `variant` are one structure; other variants have other widths, depths and functions.

    A value is its name and its dimensions behind the batch: of columns, or of tokens and columns.
    """

    def __init__(self, seed: int, style: str, member: int, variant: int, inputs: int, equal: int):
        self.draw = random.Random(f"structure {seed}")
        self.other = random.Random(f"variant {seed} {variant}") if variant else None
        self.own = random.Random(f"weights {seed} {member}")
        self.alike = random.Random(f"shared {seed} {variant}")
        self.widths, *self.steps, self.tokens, self.layers = STYLES[style]
        if style == "deep":
            self.widths = self.draw.sample(self.widths, 3)
        self.equal = equal  # so many of 100 weights are the same for all members
        self.nodes, self.weights, self.work = [], [], 0
        self.added, self.repeated = [], []  # names of weights; and of those that are taken once more, the next one last
        self.values = [(f"x{i}", self.shape()) for i in range(inputs)]
        self.inputs = list(self.values)

    def shape(self) -> list:
        if self.draw.random() * 100 >= self.tokens:
            return [self.draw.choice(self.widths)]
        return [self.draw.choice([2, 3, 4, 5, 7, 8, 9, 16, 17]), self.draw.choice(MIDDLE)]

    def chance(self, percent: int) -> bool:
        return self.draw.random() * 100 < percent

    def width(self) -> int:
        drawn = self.draw.choice(self.widths)
        return self.other.choice(self.widths) if self.other and self.other.random() < 0.5 else drawn

    # Parts of a file.

    def name(self) -> str:
        return f"v{len(self.nodes) + len(self.weights)}"

    def op(self, kind: str, inputs: list, dims: list, **attributes) -> tuple:
        name = self.name()
        self.nodes.append(node(kind, inputs, name, **attributes))
        return name, list(dims)

    def add(self, dims: list, data_type: int, raw: bytes) -> str:
        if self.repeated:
            return self.repeated.pop()
        name = self.name()
        self.added.append(name)
        self.weights.append(tensor(name, tuple(dims), data_type, raw))
        return name

    def floats(self, dims: list, size: float, middle: float = 0) -> str:
        count = 1
        for d in dims:
            count *= d
        draw = self.alike if self.chance(self.equal) else self.own
        raw = array.array("i", draw.randbytes(4 * count))
        return self.add(dims, 1, array.array("f", [x * (size * 1.2345 / 2 ** 31) + middle for x in raw]).tobytes())

    def number(self, value: float) -> str:
        return self.add([], 1, struct.pack("<f", value))

    def places(self, *values: int) -> str:
        return self.add([len(values)], 7, struct.pack(f"<{len(values)}q", *values))

    # What a network is made of: each takes a value and gives one.

    def dense(self, x: tuple, n: int = 0) -> tuple:
        k, n, size, rows = x[1][-1], n or self.width(), (1.5 / x[1][-1]) ** 0.5, x[1][0] if len(x[1]) > 1 else 1
        self.work += rows * (-(-k // 16) * 16 * -(-n // 16) * 16 + 64 * n)
        if len(x[1]) == 1 and self.chance(15):
            return self.op("Gemm", [x[0], self.floats([n, k], size)] + [self.floats([n], 0.3)] * self.chance(75), [n], transB=1)
        y = self.op("MatMul", [x[0], self.floats([k, n], size)], x[1][:-1] + [n])
        return self.op("Add", [y[0], self.floats([n], 0.3)], y[1]) if self.chance(75) else y

    def function(self, x: tuple) -> tuple:
        kind = self.draw.choice(["Relu", "Relu", "Tanh", "Sigmoid", "Softplus", "Elu", "LeakyRelu", "Sin", "Abs", "Softsign", "HardSwish", "", "x s(x)"])
        if self.other and self.other.random() < 0.3:
            kind = self.other.choice(["Relu", "Tanh", "Sigmoid"])
        if kind == "x s(x)":
            return self.op("Mul", [x[0], self.op("Sigmoid", [x[0]], x[1])[0]], x[1])
        return self.op(kind, [x[0]], x[1]) if kind else x

    def layer(self, x: tuple) -> tuple:
        return self.function(self.dense(x))

    def twin(self, x: tuple) -> tuple:
        a, b = self.layer(x), self.layer(x)
        return self.op("Concat", [a[0], b[0]], x[1][:-1] + [a[1][-1] + b[1][-1]], axis=-1)

    def norm(self, x: tuple) -> tuple:
        columns, one = x[1][-1:], x[1][:-1] + [1]
        kind = self.draw.choice(["LayerNormalization", "LayerNormalization", "square", "square", "Softmax", "Softmax", "least"])
        if kind == "LayerNormalization":
            return self.op(kind, [x[0], self.floats(columns, 0.5, 1), self.floats(columns, 0.3)], x[1], axis=-1)
        if kind == "Softmax":
            return self.op(kind, [x[0]], x[1], axis=-1)
        if kind == "least":
            return self.op("Sub", [x[0], self.op("ReduceMin", [x[0]], one, axes=[-1])[0]], x[1])
        mean = self.op("ReduceMean", [self.op("Mul", [x[0], x[0]], x[1])[0]], one, axes=[-1])
        root = self.op("Sqrt", [self.op("Add", [mean[0], self.number(1e-3)], one)[0]], one)
        return self.op("Mul", [self.op("Div", [x[0], root[0]], x[1])[0], self.floats(columns, 0.5, 1)], x[1])

    def beside(self, x: tuple, fits) -> tuple:
        """A value from before, or one made for it."""
        found = [v for v in self.values if v[0] != x[0] and fits(v[1])]
        return self.draw.choice(found) if found else self.dense(x, x[1][-1])

    def residual(self, x: tuple) -> tuple:
        other = self.beside(x, lambda dims: dims == x[1])
        return self.op(self.draw.choice(["Add", "Add", "Sub", "Max"]), [x[0], other[0]], x[1])

    def gate(self, x: tuple) -> tuple:
        other = self.beside(x, lambda dims: dims == x[1])
        return self.op("Mul", [x[0], self.op("Tanh", [other[0]], x[1])[0]], x[1])

    def concat(self, x: tuple) -> tuple:
        pair = [x, self.beside(x, lambda dims: len(dims) == len(x[1]) and dims[:-1] == x[1][:-1])]
        self.draw.shuffle(pair)
        return self.op("Concat", [v[0] for v in pair], x[1][:-1] + [pair[0][1][-1] + pair[1][1][-1]], axis=-1)

    def slice(self, x: tuple) -> tuple:
        columns = x[1][-1]
        start = self.draw.choice([0, 0, self.draw.randrange(columns)])
        end, step = self.draw.randint(start + 1, columns), self.draw.choice([1, 1, 1, 2])
        return self.op("Slice", [x[0], *(self.places(v) for v in (start, end, -1, step))], x[1][:-1] + [len(range(start, end, step))])

    def gather(self, x: tuple) -> tuple:
        count = self.draw.choice([4, 8, 16, 33])
        draw = self.own if self.chance(50) else self.draw
        return self.op("Gather", [x[0], self.places(*(draw.randrange(x[1][-1]) for _ in range(count)))], x[1][:-1] + [count], axis=-1)

    def scale(self, x: tuple) -> tuple:
        return self.op(self.draw.choice(["Mul", "Add", "Sub"]), [x[0], self.floats(x[1][-1:], 0.7)], x[1])

    def chosen(self, x: tuple) -> tuple:
        kind, columns = self.draw.choice(["TopK", "CumSum", "Where"]), x[1][-1]
        if kind == "CumSum":
            sums = self.op(kind, [x[0], self.add([], 7, struct.pack("<q", -1))], x[1])
            return self.op("Mul", [sums[0], self.number(columns ** -0.5)], x[1])
        if kind == "Where":
            larger = self.op("Greater", [x[0], self.number(0.1)], x[1])
            return self.op(kind, [larger[0], x[0], self.op("Neg", [x[0]], x[1])[0]], x[1])
        count = self.draw.randint(1, min(columns, 20))
        inputs, name = [x[0], self.places(count)], self.name()
        self.nodes.append(node(kind, inputs, [name, name + "places"], axis=-1))
        return name, x[1][:-1] + [count]

    def turn(self, x: tuple) -> tuple:
        """Tokens come, or go."""
        if len(x[1]) == 1:
            counts = [s for s in (2, 3, 4, 5, 6, 7, 8, 9, 10, 16) if x[1][0] % s == 0]
            if not counts:
                return self.layer(x)
            s = self.draw.choice(counts)
            return self.op("Reshape", [x[0], self.places(0, s, x[1][0] // s)], [s, x[1][0] // s])
        s, columns = x[1]
        kind = self.draw.choice(["Reshape", "Transpose", "ReduceMean", "ReduceMax"])
        if kind == "Reshape":
            return self.op(kind, [x[0], self.places(0, s * columns)], [s * columns])
        if kind == "Transpose":
            return self.op(kind, [x[0]], [columns, s], perm=[0, 2, 1])
        return self.op(kind, [x[0]], [columns], axes=[1], keepdims=0)

    def attention(self, x: tuple) -> tuple:
        if len(x[1]) == 1:
            return self.layer(x)
        (s, columns), heads, e = x[1], self.draw.choice([1, 1, 2, 3, 4]), self.draw.choice([2, 3, 4, 5, 8, 12, 16, 20, 32])
        parts = []
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            made = self.op("Reshape", [self.dense(x, heads * e)[0], self.places(0, s, heads, e)], [s, heads, e])
            parts.append(self.op("Transpose", [made[0]], [], perm=perm)[0])
        scores = self.op("Mul", [self.op("MatMul", parts[:2], [])[0], self.number(e ** -0.5)], [])
        weighed = self.op("MatMul", [self.op("Softmax", [scores[0]], [], axis=-1)[0], parts[2]], [])
        turned = self.op("Transpose", [weighed[0]], [], perm=[0, 2, 1, 3])
        return self.dense(self.op("Reshape", [turned[0], self.places(0, s, heads * e)], [s, heads * e]), columns)

    def gram(self, x: tuple) -> tuple:
        if len(x[1]) == 1:
            return self.layer(x)
        s, columns = x[1]
        product = self.op("MatMul", [x[0], self.op("Transpose", [x[0]], [], perm=[0, 2, 1])[0]], [s, s])
        return self.op("Mul", [product[0], self.number(1 / columns)], [s, s])

    def patches(self, x: tuple) -> tuple:
        if len(x[1]) == 1:
            return self.layer(x)
        (channels, length), k, n = x[1], self.draw.choice([1, 2, 3, 3, 5]), self.draw.choice([1, 3, 4, 7, 8, 16, 17, 32, 33, 48])
        if length < k:
            return self.layer(x)
        self.work += length // k * n * (channels * k + 64)
        weights = [self.floats([n, channels, k], (1.5 / (channels * k)) ** 0.5)] + [self.floats([n], 0.3)] * self.chance(70)
        return self.op("Conv", [x[0], *weights], [n, length // k], kernel_shape=[k], strides=[k])

    def heads(self, x: tuple) -> tuple:
        """A layer for each part of a row."""
        counts = [h for h in (2, 3, 4, 5, 8) if x[1][-1] % h == 0]
        if len(x[1]) > 1 or not counts:
            return self.layer(x)
        h, n = self.draw.choice(counts), self.draw.choice([3, 8, 9, 16, 17, 32, 48])
        e = x[1][0] // h
        self.work += h * e * n
        parts = self.op("Reshape", [x[0], self.places(0, h, 1, e)], [])
        made = self.op("MatMul", [parts[0], self.floats([h, e, n], (1.5 / e) ** 0.5)], [])
        return self.op("Reshape", [made[0], self.places(0, h * n)], [h * n])

    def again(self, x: tuple) -> tuple:
        """The same steps several times, as residual networks have them with weights of their own, and recurrent ones with the same; each with a part of what
        was made for all."""
        columns, times, recurrent, residual = x[1][-1], self.draw.randint(3, 7), self.chance(60), self.chance(50)
        given = self.dense(x, times * columns)
        parts = [self.op("Slice", [given[0], *(self.places(v) for v in (i * columns, (i + 1) * columns, -1))], x[1]) for i in range(times)]
        draws, first = [d for d in (self.draw, self.other) if d], len(self.added)
        states = [d.getstate() for d in draws]
        for part in parts:
            for draw, state in zip(draws, states):
                draw.setstate(state)
            y = x
            for _ in range(self.draw.randint(1, 3)):
                y = self.draw.choice([self.layer, self.layer, self.norm, self.function, self.scale])(y)
            y = self.function(self.op("Add", [self.dense(y, columns)[0], part[0]], x[1]))
            x = self.op("Add", [x[0], y[0]], x[1]) if residual else y
            self.repeated = self.added[:first - 1:-1] if recurrent and part != parts[-1] else []
        return x

    def file(self, unequal: bool, most: int) -> bytes:
        """With one result if members may be unequal, and no value of more than `most` elements a row."""
        steps = {self.layer: self.layers, self.function: 6, self.norm: 6, self.residual: 10, self.concat: 5, self.slice: 4, self.gather: 2, self.turn: 5,
                 self.attention: 5, self.gram: 2, self.scale: 4, self.twin: 3, self.gate: 3, self.chosen: 3, self.heads: 2,
                 self.patches: 60 if self.layers == 30 else 3, self.again: 60 if self.layers == 35 else 2}
        x, count = self.values[0], self.draw.randint(*self.steps)
        if self.other:
            count = max(1, count + self.other.choice([-1, 0, 1, 2]))
        for _ in range(count):
            if self.chance(6):
                x = self.draw.choice(self.values[-6:] + self.inputs)
            y = self.draw.choices(list(steps), list(steps.values()))[0](x)
            if y[1][0] * y[1][-1] ** (len(y[1]) - 1) <= most and y[0] != x[0]:
                x = y
                self.values.append(x)
        if unequal and len(x[1]) > 1:
            x = self.op("ReduceMean", [x[0]], x[1][1:], axes=[1], keepdims=0)
        results = [self.dense(x, 8 if unequal else 0) if unequal or self.chance(60) or x in self.inputs else x]
        made = [v for v in self.values if v not in self.inputs and v not in results]
        if not unequal and made:
            results += self.draw.sample(made, min(len(made), self.draw.choice([0, 0, 0, 1, 2])))
        self.results = results
        for i, result in enumerate(results):
            self.nodes.append(node("Identity", [result[0]], f"y{i}"))
        ports = [[value_info(name, ["batch"] + dims) for name, dims in values]
                 for values in (self.inputs, [(f"y{i}", dims) for i, (_, dims) in enumerate(results)])]
        return model(self.nodes, self.weights, *ports)

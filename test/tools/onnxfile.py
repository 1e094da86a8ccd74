# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files by hand, byte by byte: what makes test models needs no package."""
import struct


def varint(value: int) -> bytes:
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def field(number: int, value) -> bytes:
    """A protobuf field: an integer, or bytes, text and messages."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name: str, dims: list, data_type: int = 1) -> bytes:
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, data_type) + field(2, shape)))


def tensor(name: str, dims: tuple, data_type: int, raw: bytes) -> bytes:
    return b"".join(field(1, d) for d in dims) + field(2, data_type) + field(8, name) + field(9, raw)


def node(kind: str, inputs: list, output: str | list, domain: str = "", **attributes) -> bytes:
    """Attributes are integers, floats, lists of either, text, or a graph's bytes."""
    text = b""
    for name, value in attributes.items():
        if isinstance(value, int):
            value = field(3, value % 2 ** 64) + field(20, 2)
        elif isinstance(value, float):
            value = b"\x15" + struct.pack("<f", value) + field(20, 1)
        elif isinstance(value, str):
            value = field(4, value) + field(20, 3)
        elif isinstance(value, list) and value and isinstance(value[0], float):
            value = b"".join(b"\x3d" + struct.pack("<f", v) for v in value) + field(20, 6)
        elif isinstance(value, list):
            value = b"".join(field(8, v % 2 ** 64) for v in value) + field(20, 7)
        else:
            value = field(6, value) + field(20, 5)
        text += field(5, field(1, name) + value)
    outputs = output if isinstance(output, list) else [output]
    ports = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    return field(1, ports + field(4, kind) + (field(7, domain) if domain else b"") + text)


def model(nodes: list, weights: list, inputs: list, outputs: list, more: bytes = b"") -> bytes:
    """`weights` by tensor(), `inputs` and `outputs` by value_info(); `more` fields of the model."""
    graph = b"".join(nodes) + field(2, "test") + b"".join(field(5, w) for w in weights)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs)
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + more + field(7, graph)

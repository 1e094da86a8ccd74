# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
""".npy files by hand: what makes inputs for tests needs no package."""
import struct
from pathlib import Path


def save_raw(path: Path, kind: str, shape: tuple, raw: bytes):
    """`kind` as NumPy writes it, such as "<f4"."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + raw)


def save(path: Path, shape: tuple, values: list, code: str = "f"):
    """Of float32, or of what else struct has a code for."""
    save_raw(path, f"<f{struct.calcsize(code)}", shape, struct.pack(f"<{len(values)}{code}", *values))


def elements(raw: bytes) -> bytes:
    """What a file of format 1 has behind its header."""
    return raw[10 + int.from_bytes(raw[8:10], "little"):]

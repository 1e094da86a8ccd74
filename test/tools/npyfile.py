# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""float32 .npy files by hand: what makes inputs for tests needs no package."""
import struct
from pathlib import Path


def save(path: Path, shape: tuple, values: list):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}f", *values))


def elements(raw: bytes) -> bytes:
    """What a file of format 1 has behind its header."""
    return raw[10 + int.from_bytes(raw[8:10], "little"):]

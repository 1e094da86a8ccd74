# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""relabel.py ARTIFACT OLD.onnx NEW.onnx: makes the artifact say that the member compiled from OLD was compiled from NEW, with
all digests right: for tests of what happens when results differ."""
import struct
import sys

P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, MASK = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1


def rotl(x, by):
    return (x << by | x >> (64 - by)) & MASK


def turn(acc, word):
    return rotl((acc + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    at, h = 0, P5
    if len(data) >= 32:
        acc = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for at in range(32, len(data) + 1, 32):
            acc = [turn(a, w) for a, w in zip(acc, struct.unpack_from("<4Q", data, at - 32))]
        h = sum(rotl(a, by) for a, by in zip(acc, (1, 7, 12, 18))) & MASK
        for a in acc:
            h = ((h ^ turn(0, a)) * P1 + P4) & MASK
    h = (h + len(data)) & MASK
    while len(data) - at >= 8:
        h = (rotl(h ^ turn(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if len(data) - at >= 4:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


artifact, old, new = sys.argv[1:]
assert xxh64(b"") == 0xEF46DB3751D8E999
file = bytearray(open(artifact, "rb").read())
# The header of runtime/schema/Format.h.
begin, size = struct.unpack_from("<2Q", file, 24)
old, new = (struct.pack("<Q", xxh64(open(name, "rb").read())) for name in (old, new))
metadata = bytes(file[begin : begin + size])
assert metadata.count(old) == 1, "the member's digest is not there"
metadata = metadata.replace(old, new)
file[begin : begin + size] = metadata
struct.pack_into("<Q", file, 40, xxh64(metadata))
struct.pack_into("<Q", file, 248, xxh64(bytes(file[:248])))
open(artifact, "wb").write(file)

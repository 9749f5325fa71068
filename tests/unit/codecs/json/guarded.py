"""Mutated JSON under guard: run by test_warm.py in a process of its own, because failing means crashing.

    python -m tests.unit.codecs.json.guarded SEED MUTATIONS

Every row ends where a page ends, and the next page cannot be touched: reading one byte too far kills the process.
Prints how many rows were read and how many were refused.
"""

import ctypes
import mmap
import random
import sys
from collections import Counter

import pyarrow as pa

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.codec import bind
from lakestream.contract.columns.json_text import JSON_TEXT
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.rest import with_rest

from .samples import WRITER, layout_of

KINDS: dict[str, Found] = {"n": "long", "price": "double", "ok": "boolean", "name": "string", "more": JSON_TEXT}
KINDS |= {"o": {"x": "long", "in": {"y": "string"}}, "l": ["string"], "d": ["double"]}
LAYOUTS = (layout_of(KINDS), with_rest(layout_of(KINDS)), Layout())
ROWS = [
    b'{"o":{"x":1,"in":{"y":"z"}},"l":["a","b"],"d":[1.5,null]}',
    b'{"o": {"in": null, "x": 7, "k": {"u": [1, "x"]}}, "l": [], "d": [2.25, 1e-7], "z": [{}], "zz": {"a": {"b": 1}}}',
    b'{"n":1,"price":2.5,"ok":true,"name":"x","more":[1]}',
    b'{"n": -7, "name": "\\u00e9\\ud83d\\ude00 \xe2\x82\xac", "more": {"a": ["b", 1e5, null]}}',
    b'{"price": 0.30000000000000004, "ok": false, "name": null, "unknown": "\\\\"}',
]
INPUT_BYTES_MAX = 16 * mmap.PAGESIZE
NO_ACCESS = 0


class Guarded:
    """Memory whose end cannot be overrun unnoticed."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, INPUT_BYTES_MAX + mmap.PAGESIZE)
        self.end = ctypes.addressof(ctypes.c_char.from_buffer(self._map)) + INPUT_BYTES_MAX
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(self.end), mmap.PAGESIZE, NO_ACCESS) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")

    def binary(self, row: bytes) -> pa.BinaryArray:
        """One value, at the very end."""
        self._map[INPUT_BYTES_MAX - len(row) : INPUT_BYTES_MAX] = row
        offsets = pa.array([0, len(row)], pa.int32()).buffers()[1]
        data = pa.foreign_buffer(self.end - len(row), len(row), self._map)
        return pa.Array.from_buffers(pa.binary(), 1, [None, offsets, data])


def mutated(row: bytes, chance: random.Random) -> bytes:
    content = bytearray(row[: chance.randrange(len(row) + 1)] if chance.random() < 0.5 else row)
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(content) + 1)
        content[at : at + chance.randrange(2)] = chance.choice([b'"', b"\\", b"{", b"[", b"\\u", b"-", b"t", b"\xe2"])
    return bytes(content)


def main(seed: int, mutations: int) -> None:
    chance, guarded = random.Random(seed), Guarded()
    codecs = [bind(WRITER, layout) for layout in LAYOUTS]
    outcomes = Counter[str]()
    for _ in range(mutations):
        codec = chance.choice(codecs)
        decoded = codec.decode(guarded.binary(mutated(chance.choice(ROWS), chance)))
        outcomes["refused" if decoded.errors.rows else "read"] += 1
    print(outcomes["read"], outcomes["refused"])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

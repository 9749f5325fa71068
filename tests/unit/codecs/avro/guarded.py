"""Mutated values under guard: run by test_hostile.py in a process of its own, because failing means crashing.

    python -m tests.unit.codecs.avro.guarded SEED MUTATIONS

The input ends where a page ends, and the next page cannot be touched: reading one byte too far kills the process.
Buffers begin with hardly any room and have rims whose pattern must still be there afterwards. Rows around the mutated
one must come out as they do alone. Prints how many mutations were decoded, how many of them exactly, and how many not.
"""

import ctypes
import io
import mmap
import random
import sys
from collections import Counter
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.avro import buffers, codec
from tests.unit.codecs.avro.samples import codec_of
from tests.unit.codecs.avro.test_recursive import TOP, tree

RIM = 64
PATTERN = 0xA5
INPUT_BYTES_MAX = 16 * mmap.PAGESIZE
NO_ACCESS = 0
NUMBERS = [b"\xff" * 9 + b"\x01", b"\xff" * 12, b"\xfe\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x10", b"\x80" * 5 + b"\x00"]

ITEM = {
    "type": "record",
    "name": "Item",
    "fields": [
        {"name": "sku", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": ["null", "int", "bytes"]}}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    ],
}
ORDER: Any = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "items", "type": {"type": "array", "items": ITEM}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "maybe", "type": ["boolean", "null", "string", "float", {"type": "fixed", "name": "Four", "size": 4}]},
        {"name": "last", "type": ["null", {**ITEM, "name": "Last"}]},
        {"name": "nothing", "type": {"type": "array", "items": "null"}},
        {"name": "day", "type": {"type": "int", "logicalType": "time-millis"}},
    ],
}


def item(chance: random.Random) -> Any:
    return {
        "sku": chance.choice([None, "sku", "größe"]),
        "tags": {str(n): [chance.choice([None, n, b"x"]) for _ in range(n)] for n in range(chance.randint(0, 3))},
        "price": chance.randint(200, 999).to_bytes(2, "big"),
    }


def order(chance: random.Random) -> Any:
    return {
        "id": chance.randint(-(2**40), 2**40),
        "at": chance.randint(0, 2**40),
        "items": [item(chance) for _ in range(chance.randint(0, 4))],
        "state": chance.choice(["NEW", "PAID"]),
        "maybe": chance.choice([None, True, "text", 0.5, b"four"]),
        "last": chance.choice([None, item(chance)]),
        "nothing": [None] * chance.randint(0, 3),
        "day": chance.randint(0, 10**7),
    }


def forest(chance: random.Random) -> Any:
    inner = chance.choice([None, tree("a", tree("b"), x=tree("c")), tree("ü")])
    return {"id": chance.randint(0, 9), "tree": inner, "z": chance.randint(0, 9)}


class Guarded:
    """Memory whose end cannot be overrun unnoticed."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, INPUT_BYTES_MAX + mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(address + INPUT_BYTES_MAX), mmap.PAGESIZE, NO_ACCESS) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        self._bytes = np.frombuffer(self._map, np.uint8)

    def hold(self, rows: list[bytes]) -> pa.BinaryArray:
        data = b"".join(rows)
        view = self._bytes[INPUT_BYTES_MAX - len(data) : INPUT_BYTES_MAX]
        view[:] = np.frombuffer(data, np.uint8)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int32)
        return pa.Array.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(view)])


class Rimmed(buffers.AvroBuffers):
    whole: list[Any]

    def _allocated(self, size: int, *, cleared: bool) -> Any:
        whole = np.full(RIM + size + RIM, PATTERN, np.uint8)
        if cleared:
            whole[RIM : RIM + size] = 0
        self.__dict__.setdefault("whole", []).append(whole)
        return whole[RIM : RIM + size]

    def batch(self, *arguments: Any) -> pa.RecordBatch:
        for whole in self.whole:
            assert (whole[:RIM] == PATTERN).all() and (whole[-RIM:] == PATTERN).all(), "written out of bounds"
        return super().batch(*arguments)


def written(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, value)
    return out.getvalue()


def mutated(chance: random.Random, row: bytes) -> bytes:
    data = bytearray(row)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at : at + 1] = chance.randbytes(1)
            case 1:
                data[at : at + chance.randint(0, 10)] = chance.choice(NUMBERS)
            case 2:
                del data[at : at + chance.randint(1, 30)]
            case 3:
                data[at:at] = chance.randbytes(chance.randint(1, 20))
            case 4:
                del data[at:]
    return bytes(data)


def main(seed: int, mutations: int) -> None:
    buffers.BYTES_FIRST, buffers.ITEMS_FIRST, codec.Buffers = 1, 1, Rimmed  # type: ignore[misc]
    chance, guarded = random.Random(seed), Guarded()
    results: Counter[str] = Counter()
    for schema, value in ((ORDER, order), (TOP, forest)):
        ready = fastavro.parse_schema(_plain(schema))
        bound = codec_of(schema)
        for _ in range(mutations):
            good = [written(ready, value(chance)) for _ in range(chance.randint(1, 9))]
            at = chance.randrange(len(good) + 1)
            decoded = bound.decode(guarded.hold([*good[:at], mutated(chance, good[0]), *good[at:]]))
            decoded.columns.validate(full=True)
            alone = bound.decode(guarded.hold(good))
            assert alone.errors.rows == [] and set(decoded.errors.rows) <= {at}
            around = pa.concat_tables(map(pa.Table.from_batches, ([decoded.columns[:at]], [decoded.columns[at + 1 :]])))
            assert around.to_pylist() == alone.columns.to_pylist()
            assert np.delete(decoded.exact, at).tolist() == alone.exact.tolist()
            results["failed" if decoded.errors.rows else "exact" if decoded.exact[at] else "decoded"] += 1
    print(" ".join(f"{name} {results[name]}" for name in ("exact", "decoded", "failed")))


def _plain(schema: Any) -> Any:
    """Without logical types, so that numbers and bytes are written as they are."""
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if key != "logicalType"}
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

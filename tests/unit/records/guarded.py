"""Mutated records under guard: run by test_hostile.py in a process of its own, because failing means crashing.

    python -m tests.unit.records.guarded SEED MUTATIONS

The input ends where a page ends, and the next page cannot be touched: reading one byte too far kills
the process. Outputs are cut out of larger arrays whose rims hold a pattern that must still be there
afterwards. Rooms are sometimes made too small on purpose. What encoding looks at is under the same guard.
Prints how many mutations were let through and how many were refused.
"""

import ctypes
import mmap
import random
import sys
from collections import Counter

import numpy as np
import pyarrow as pa

from lakestream.storage.records.arrays import ByteArray, as_array
from lakestream.storage.records.decode import Measure
from lakestream.storage.records.encode import VIEWS_SCHEMA, columns_of
from lakestream.storage.records.faults import OK
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.records.kernels.columns import Columns
from lakestream.storage.records.kernels.decoding import PROGRESS_COLUMNS, decode_bodies
from lakestream.storage.records.kernels.encoding import ENCODED_COLUMNS, encode_rows
from lakestream.storage.records.kernels.indexing import INDEX_COLUMNS, index_batches
from lakestream.storage.records.kernels.timing import find_times
from lakestream.storage.records.kernels.views import VIEW_NUMBERS, Views
from lakestream.storage.records.kernels.walking import walk_records
from tests.unit.records.samples import ROWS, one_batch

RIM = 64
PATTERN = 0xA5
ROWS_OF_VIEWS = 8
INPUT_BYTES_MAX = 16 * mmap.PAGESIZE
NO_ACCESS = 0
VARINTS = [b"\xff" * 9 + b"\x01", b"\xff" * 12, b"\xfe\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x0f", b"\x80" * 5 + b"\x00"]


class Guarded:
    """Memory whose end cannot be overrun unnoticed."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, INPUT_BYTES_MAX + mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(address + INPUT_BYTES_MAX), mmap.PAGESIZE, NO_ACCESS) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        self._bytes = np.frombuffer(self._map, np.uint8)

    def hold(self, data: bytes) -> ByteArray:
        view = self._bytes[INPUT_BYTES_MAX - len(data) : INPUT_BYTES_MAX]
        view[:] = np.frombuffer(data, np.uint8)
        view.flags.writeable = False
        return view


class Rimmed:
    """Outputs with a rim on both sides."""

    def __init__(self, size: Measure) -> None:
        self._whole: list[ByteArray] = []
        self.columns = Columns(
            offset=self._cut(size.rows, np.int64),
            timestamp=self._cut(size.rows, np.int64),
            key_offsets=self._cut(size.rows + 1, np.int32),
            key_data=self._cut(size.key_bytes, np.uint8),
            key_valid=self._cut((size.rows + 7) // 8, np.uint8),
            value_offsets=self._cut(size.rows + 1, np.int32),
            value_data=self._cut(size.value_bytes, np.uint8),
            value_valid=self._cut((size.rows + 7) // 8, np.uint8),
            header_lists=self._cut(size.rows + 1, np.int32),
            header_key_offsets=self._cut(size.headers + 1, np.int32),
            header_key_data=self._cut(size.header_key_bytes, np.uint8),
            header_value_offsets=self._cut(size.headers + 1, np.int32),
            header_value_data=self._cut(size.header_value_bytes, np.uint8),
            header_value_valid=self._cut((size.headers + 7) // 8, np.uint8),
        )

    def _cut(self, count: int, kind: type) -> np.ndarray:
        inner = count * np.dtype(kind).itemsize
        whole = np.full(RIM + inner + RIM, PATTERN, np.uint8)
        self._whole.append(whole)
        return whole[RIM : RIM + inner].view(kind)

    def check(self) -> None:
        for whole in self._whole:
            assert (whole[:RIM] == PATTERN).all() and (whole[-RIM:] == PATTERN).all(), "written out of bounds"


def mutated(chance: random.Random, records: bytes) -> bytes:
    data = bytearray(records)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at : at + 1] = chance.randbytes(1)
            case 1:
                data[at : at + chance.randint(0, 10)] = chance.choice(VARINTS)
            case 2:
                del data[at : at + chance.randint(1, 30)]
            case 3:
                data[at:at] = chance.randbytes(chance.randint(1, 20))
            case 4:
                del data[at:]
    return bytes(data)


def try_one(chance: random.Random, records: ByteArray, count: int) -> bool:
    """Run every kernel that reads records. Whether the gate would have let them in."""
    walked = walk_records(records, 0, records.size, count, 0)[0] == OK
    find_times(records, 0, records.size, count, 0, chance.randint(0, 3), chance.randint(-5, 5))
    table = np.array([[0, 0, records.size, 0, count, 0, 0, 0, chance.choice([0, 8])]], np.int64)
    progress = np.zeros(PROGRESS_COLUMNS, np.int64)
    nothing = Rimmed(Measure(*progress.tolist()))
    fault, _ = decode_bodies(records, table, nothing.columns, progress, False)
    nothing.check()
    assert fault == OK or not walked, "the gate let in what the decoder cannot read"
    size = Measure(*progress.tolist())
    if chance.random() < 0.3:
        size = Measure(*(chance.randint(0, part) for part in size))
    room = Rimmed(size)
    decode_bodies(records, table, room.columns, np.zeros(PROGRESS_COLUMNS, np.int64), True)
    room.check()
    return walked


def try_index(chance: random.Random, guarded: Guarded, batch: bytes) -> None:
    """The kernel that reads batch headers, on a mutated run of batches and a table that may be too short."""
    run = mutated(chance, batch[: chance.randint(1, len(batch))] + batch)
    rows = chance.randint(0, 3)
    whole = np.full((rows + 2, INDEX_COLUMNS), PATTERN, np.int64)
    index_batches(guarded.hold(run), whole[1 : rows + 1])
    assert (whole[0] == PATTERN).all() and (whole[-1] == PATTERN).all(), "written out of bounds"


def encode_views(guarded: Guarded) -> None:
    """Values in views: those without bytes have no place, and offsets of plain values are not there to be looked at."""
    rows = pa.record_batch(
        [
            [*range(ROWS_OF_VIEWS)],
            [0] * ROWS_OF_VIEWS,
            [None] * ROWS_OF_VIEWS,
            [b""] * ROWS_OF_VIEWS,
            [[]] * ROWS_OF_VIEWS,
        ],
        schema=VIEWS_SCHEMA,
    )
    columns, first_bits = columns_of(*rows.columns)
    columns = columns._replace(value_offsets=guarded.hold(bytes(4)).view(np.int32))
    out = np.empty(HEADER_BYTES + 100 * ROWS_OF_VIEWS, np.uint8)
    own = as_array(memoryview(rows.column("value").buffers()[1])).view(np.int32).reshape(-1, VIEW_NUMBERS)
    views = Views(own, as_array(bytes(16)).view(np.int64).reshape(1, 2))
    table = np.empty((1, ENCODED_COLUMNS), np.int64)
    fault, batches = encode_rows(out, columns, views, first_bits, 1 << 20, False, table)
    assert (fault, batches) == (OK, 1)


def main(seed: int, mutations: int) -> None:
    chance = random.Random(seed)
    guarded = Guarded()
    batch = one_batch(ROWS)
    records = batch[HEADER_BYTES:]
    results: Counter[bool] = Counter()
    for _ in range(mutations):
        count = len(ROWS) if chance.random() < 0.8 else chance.choice([0, 1, 3, 5, 100, 2**31 - 1])
        results[try_one(chance, guarded.hold(mutated(chance, records)), count)] += 1
        try_index(chance, guarded, batch)
    assert try_one(chance, guarded.hold(records), len(ROWS))
    encode_views(guarded)
    print(f"passed {results[True]} refused {results[False]}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

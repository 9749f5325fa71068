"""The topic's side: every record of the range is hashed once, whatever the fetches look like."""

import numpy as np
import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.table.verify.appended import NOTHING_APPENDED
from lakestream.table.verify.digest import Digests, add_hashes
from lakestream.table.verify.hashing import record_hashes
from lakestream.table.verify.records import read_topic
from lakestream.table.verify.rows import PLACE_BYTES, Range

BATCH = 10


def rows_of(first: int) -> pa.RecordBatch:
    rows = [
        {"offset": at, "timestamp": 1000 + at, "key": None, "value": b"v%d" % at, "headers": []}
        for at in range(first, first + BATCH)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def batch_of(first: int) -> bytes:
    (batch,) = encode_batches(rows_of(first), batch_bytes_max=1 << 20)
    return bytes(batch)


class Batches:
    """A topic of whole batches, one fetch each, and one cut off after it."""

    def __init__(self, batches: dict[int, bytes], *, start: int = 0) -> None:
        self.batches = batches
        self.start = start

    def fetch(self, partition: int, offset: int) -> memoryview | None:
        if offset < self.start:
            return None
        found = self.batches.get(offset // BATCH * BATCH, b"")
        return memoryview(found + found[: len(found) // 2])

    def earliest(self, partition: int) -> int:
        return self.start


def expected(*batches: pa.RecordBatch, within: Range) -> Digests:
    found: Digests = {}
    for batch in batches:
        offsets = batch.column("offset").to_numpy()
        wanted = (offsets >= within.start) & (offsets < within.end)
        add_hashes(found, 0, offsets[wanted], record_hashes(batch)[wanted])
    return found


def test_only_records_of_the_range_count() -> None:
    counted: list[int] = []
    topic = Batches({first: batch_of(first) for first in (0, 10, 20)})
    side = read_topic(topic, {0: Range(3, 25)}, NOTHING_APPENDED, counted.append)
    assert side.digests == expected(rows_of(0), rows_of(10), rows_of(20), within=Range(3, 25))
    assert (side.read, side.problems, sum(counted)) == ({0: Range(3, 25)}, [], 22)


def test_records_that_are_deleted_while_they_are_read_are_skipped() -> None:
    topic = Batches({first: batch_of(first) for first in (10, 20)}, start=15)
    side = read_topic(topic, {0: Range(3, 30)}, NOTHING_APPENDED, lambda _: None)
    assert side.digests == expected(rows_of(10), rows_of(20), within=Range(15, 30))
    assert side.problems == []


def test_a_topic_that_ends_too_early_is_a_problem() -> None:
    side = read_topic(Batches({0: batch_of(0)}), {0: Range(0, 20)}, NOTHING_APPENDED, lambda _: None)
    assert side.read == {0: Range(0, 10)}
    [problem] = side.problems
    assert "cannot be read from offset 10 on" in problem


def test_a_batch_that_cannot_be_read_is_one_row_of_its_bytes() -> None:
    damaged = bytearray(batch_of(10))
    damaged[-1] ^= 0xFF
    row = {"offset": 10, "timestamp": -1, "key": None, "value": bytes(damaged[PLACE_BYTES:]), "headers": []}
    as_row = pa.RecordBatch.from_pylist([row], schema=SCHEMA)
    topic = Batches({0: batch_of(0), 10: bytes(damaged), 20: batch_of(20)})
    side = read_topic(topic, {0: Range(0, 30)}, NOTHING_APPENDED, lambda _: None)
    assert side.digests == expected(rows_of(0), as_row, rows_of(20), within=Range(0, 30))
    assert np.sum([digest.records for digest in side.digests.values()]) == 21

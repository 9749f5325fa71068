"""How fast table files are written and replayed, on one core: `python -m benchmarks.tablefile`.

Each figure is the best of several runs in CPU time. MB/s count the bytes of the record batches uncompressed, as they
lie in a WAL segment. Everything is in memory, so what is measured is work, not the disk.

    rewrite   batches of a WAL span -> decode -> Parquet with statistics and descriptor   (what compaction does)
    write     the same from decoded rows
    pyarrow   plain `write_table` of the same columns and settings, nothing else
    replay    the file, from footer to batches ready to send, as a consumer fetches it
    WAL read  the same records from WAL segments: found, cut into batches, offsets patched, and joined into the socket's
              buffer; the joining is counted for replay as well
    seek      one record out of the middle of the file with a warm footer: bytes fetched, and time
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.values import json_values
from lakestream.contract.values.composing import RowComposer
from lakestream.model.place import FileSpan, Span
from lakestream.storage.reader.placed import run_from
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.format.columns import OFFSET, TIMESTAMP, arrow_schema
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.reader import TableFileReader
from lakestream.storage.tablefile.write.stretch import Stretch, rows_stretch, stretches_of_span
from lakestream.storage.tablefile.write.to_columns import in_columns
from lakestream.storage.tablefile.write.writer import write_table_file
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import Buffer
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

FILE_BYTES = 64 << 20
SPAN_BYTES = 8 << 20
FETCH_BYTES = 8 << 20
BATCH_BYTES = 1 << 20
NOW_MS = 1_763_000_000_000
REPEATS = 5
CACHE_BYTES = 16 << 20
"""A quarter of the file: a replay is longer than any cache."""
PATH = "data/file.parquet"


class Wal(NamedTuple):
    """Spans as flushes leave them, and their bytes."""

    spans: list[tuple[Span, bytes]]
    bytes: int


def main() -> None:
    pa.set_cpu_count(1)
    print(f"{'values':>7} {'source':>7} {'what':>9} {'MB/s':>8} {'krec/s':>8}  note")
    for value_bytes in (185, 1000):
        rows = rows_of(value_bytes)
        for codec in (Codec.NONE, Codec.LZ4):
            measure(rows, value_bytes, codec)


def measure(rows: pa.RecordBatch, value_bytes: int, codec: Codec) -> None:
    wal = wal_of(rows, codec)
    raw_bytes = wal_of(rows, Codec.NONE).bytes
    parts, descriptor = write_table_file(decoded(wal), path=PATH)
    content = b"".join(parts)

    def tell(what: str, seconds: float, note: str = "") -> None:
        print(
            f"{value_bytes:>5} B {codec.name.lower():>7} {what:>9} {raw_bytes / seconds / 1e6:>8.0f} "
            f"{rows.num_rows / seconds / 1e3:>8.0f}  {note}"
        )

    ratio = f"{raw_bytes / len(content):.2f} times smaller, {len(descriptor.split_offsets)} row groups"
    tell("rewrite", best(lambda: write_table_file(decoded(wal), path=PATH)), ratio)
    whole = rows_stretch(rows, partition=0, codec=codec)
    tell("write", best(lambda: write_table_file([whole], path=PATH)))
    plain = in_columns([whole], arrow_schema())
    rows_in_group = rows.num_rows // len(descriptor.split_offsets)
    tell("pyarrow", best(lambda: plain_parquet(plain, rows_in_group)))
    replay = best(lambda: asyncio.run(replayed(content, descriptor)))
    from_wal = best(lambda: read_wal(wal))
    tell("replay", replay, f"{from_wal / replay:.2f} of reading from WAL segments")
    tell("WAL read", from_wal)
    print(f"{value_bytes:>5} B {codec.name.lower():>7} {'seek':>9} {asyncio.run(sought(content, descriptor))}")


def rows_of(value_bytes: int) -> pa.RecordBatch:
    count = FILE_BYTES // (value_bytes + 30)
    values = json_values(count, value_bytes)
    return pa.record_batch(
        [
            pa.array(np.arange(count)),
            pa.array(NOW_MS + np.arange(count) // 10),
            pa.array([b"key-%06d" % (at * 7919 % 100_000) for at in range(count)], pa.binary()),
            pa.array(values, pa.binary()),
            pa.array([[]] * count, SCHEMA.field("headers").type),
        ],
        schema=SCHEMA,
    )


def wal_of(rows: pa.RecordBatch, codec: Codec) -> Wal:
    spans = []
    in_span = SPAN_BYTES * rows.num_rows // FILE_BYTES
    for first in range(0, rows.num_rows, in_span):
        part = rows.slice(first, in_span)
        batches = encode_batches(part, batch_bytes_max=BATCH_BYTES, codec=codec)
        data = b"".join(bytes(8) + bytes(batch[8:]) for batch in batches)
        span = Span(first, first + part.num_rows - 1, "segment", 0, len(data), NOW_MS, -1)
        spans.append((span, data))
    return Wal(spans, sum(len(data) for _, data in spans))


def decoded(wal: Wal) -> Iterator[Stretch]:
    for span, data in wal.spans:
        yield from stretches_of_span(
            data, partition=0, base_offset=span.base_offset, append_ms=-1, decompressed_bytes_max=1 << 30
        )


def plain_parquet(table: pa.Table, rows_in_group: int) -> None:
    pq.write_table(
        table,
        pa.BufferOutputStream(),
        row_group_size=rows_in_group,
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
        column_encoding={OFFSET: "DELTA_BINARY_PACKED", TIMESTAMP: "DELTA_BINARY_PACKED"},
    )


class _Counted:
    bytes = 0

    def table_file_read(self, *, bytes: int) -> None:
        self.bytes += bytes


async def reader_of(content: bytes, counted: _Counted) -> TableFileReader:
    objects = MemoryObjects(SystemClock())
    await objects.put(PATH, [content])
    tasks = Tasks(on_failure=lambda name, error: print(name, error))
    files = TableFiles(objects, InlineThreads(), tasks, counted, footer_bytes_max=16 << 20)
    appended = AppendedFiles(objects, InlineThreads(), tasks, counted, RowComposer(), cache_bytes_max=CACHE_BYTES)
    return TableFileReader(files, appended, InlineThreads(), tasks, cache_bytes_max=CACHE_BYTES)


def span_in(descriptor: FileDescriptor) -> FileSpan:
    _, base_offset, last_offset, rows, max_timestamp_ms = descriptor.partitions[0]
    return FileSpan(base_offset, last_offset, PATH, None, 0, rows, descriptor.file_size_bytes, max_timestamp_ms)


async def replayed(content: bytes, descriptor: FileDescriptor) -> None:
    reader = await reader_of(content, _Counted())
    span = span_in(descriptor)
    offset = 0
    while offset <= span.last_offset:
        run = await reader.read(span, offset, FETCH_BYTES, at_least_one=True)
        send(run)
        offset = run.next_offset


def read_wal(wal: Wal) -> None:
    for span, data in wal.spans:
        send(run_from(span, [memoryview(data)], span.base_offset, len(data), at_least_one=True))


def send(run: Run) -> None:
    """What a socket does with it: one copy."""
    parts: list[Buffer] = run.parts
    b"".join(parts)


async def sought(content: bytes, descriptor: FileDescriptor) -> str:
    held = descriptor.partitions[0]
    counted = _Counted()
    reader = await reader_of(content, counted)
    span = span_in(descriptor)
    await reader.read(span, 0, 1, at_least_one=True)
    footer_and_group = counted.bytes
    started = time.perf_counter()
    await reader.read(span, held.last_offset // 2, 1, at_least_one=True)
    took_ms = (time.perf_counter() - started) * 1000
    return f"{took_ms:8.1f} ms, {counted.bytes - footer_and_group} bytes fetched of {len(content)}"


def best(work: Callable[[], object]) -> float:
    seconds = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        seconds = min(seconds, time.process_time() - started)
    return seconds


if __name__ == "__main__":
    main()

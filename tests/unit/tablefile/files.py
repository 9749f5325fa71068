"""Table files to test with: written by the product, read through a store that counts what is fetched."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import pyarrow as pa

from lakestream.contract.values.composing import RowComposer
from lakestream.model.file_compression import DEFAULT_COMPRESSION, FileCompression
from lakestream.model.place import FileSpan
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec, read_header
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.reader import TableFileReader
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import Stretch, rows_stretch
from lakestream.storage.tablefile.write.writer import write_table_file
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import Buffer
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads, Threads
from tests.unit.records.samples import BYTES_MAX, Row, arrow

T = TypeVar("T")
PATH = "data/a.parquet"
LOG_PATH = "data/a-log.parquet"
TINY_GROUPS = RowGroupLimits(rows_max=4, bytes_max=2_000, alone_rows=2, alone_bytes=1_000)


class CountingObjects(MemoryObjects):
    """Remembers every range that was read: (key, position, length)."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.reads: list[tuple[str, int, int]] = []

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        data = await super().get_range(key, at, length)
        self.reads.append((key, at, len(data)))
        return data

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        data, size = await super().get_tail(key, length)
        self.reads.append((key, size - len(data), len(data)))
        return data, size


class Counted:
    def __init__(self) -> None:
        self.bytes = 0

    def table_file_read(self, *, bytes: int) -> None:
        self.bytes += bytes


class Bench:
    """A reader over a store in memory, inside one event loop."""

    def __init__(self, *, cache_bytes_max: int = 1 << 26, threads: Threads | None = None) -> None:
        self.objects = CountingObjects()
        self.failures: list[BaseException] = []
        self.tasks = Tasks(on_failure=lambda name, error: self.failures.append(error))
        self.metrics = Counted()
        threads = threads or InlineThreads()
        self.files = TableFiles(self.objects, threads, self.tasks, self.metrics, footer_bytes_max=1 << 24)
        appended = AppendedFiles(
            self.objects, threads, self.tasks, self.metrics, RowComposer(), cache_bytes_max=cache_bytes_max
        )
        self.reader = TableFileReader(self.files, appended, threads, self.tasks, cache_bytes_max=cache_bytes_max)


def with_files(files: dict[str, bytes], work: Callable[[Bench], Awaitable[T]], *, cache_bytes_max: int = 1 << 26) -> T:
    """Run `work` against a reader whose store holds the files. No task of it may fail unseen."""

    async def run() -> T:
        bench = Bench(cache_bytes_max=cache_bytes_max)
        for path, content in files.items():
            await bench.objects.put(path, [content])
        try:
            result = await work(bench)
        finally:
            await bench.tasks.close()
        assert bench.failures == []
        return result

    return asyncio.run(run())


def file_of(
    stretches: Sequence[Stretch],
    *,
    path: str = PATH,
    with_form: bool = False,
    limits: RowGroupLimits | None = None,
    compression: FileCompression = DEFAULT_COMPRESSION,
) -> tuple[bytes, FileDescriptor]:
    parts, descriptor = write_table_file(
        stretches, path=path, with_form=with_form, limits=limits, compression=compression
    )
    return b"".join(parts), descriptor


def stretch_of(rows: list[Row], *, partition: int = 0, codec: Codec = Codec.NONE) -> Stretch:
    return rows_stretch(arrow(rows), partition=partition, codec=codec)


def span_of(files: Sequence[str], last_offset: int, *, partition: int = 0) -> FileSpan:
    """What the reader looks at of a span; the rest is the index's."""
    return FileSpan(
        base_offset=0,
        last_offset=last_offset,
        file=files[0],
        log_file=files[1] if len(files) > 1 else None,
        partition=partition,
        rows=0,
        length=0,
        max_timestamp_ms=-1,
    )


def file_span(descriptor: FileDescriptor, partition: int = 0) -> FileSpan:
    (held,) = [each for each in descriptor.partitions if each.partition == partition]
    return span_of([descriptor.path], held.last_offset, partition=partition)


async def read_through(
    reader: TableFileReader, span: FileSpan, offset: int, bytes_max: int, encoding: Encoding | None = None
) -> list[Run]:
    """Fetch after fetch, as a consumer does, to the end of the span."""
    runs = []
    while offset <= span.last_offset:
        run = await reader.read(span, offset, bytes_max, at_least_one=True, encoding=encoding or Encoding())
        assert run.next_offset > offset, "a read that is to give at least one batch must make progress"
        assert run.bytes == sum(len(part) for part in run.parts)
        runs.append(run)
        offset = run.next_offset
    return runs


def rows_of(runs: Sequence[Run]) -> list[Row]:
    """What a consumer gets: every record once, in order. No batch begins before the one in front of it has ended."""
    batches = [bytes(part) for run in runs for part in run.parts]
    end = -1
    for batch in batches:
        header = read_header(batch)
        assert header.base_offset > end
        end = header.base_offset + header.last_offset_delta
    bases = [read_header(batch).base_offset for batch in batches]
    decoded: list[Row] = decode_batches(b"".join(batches), bytes_max=BYTES_MAX, base_offsets=bases).to_pylist()
    return decoded


def codecs_of(runs: Sequence[Run]) -> list[Codec]:
    return [Codec(read_header(part).codec_number) for run in runs for part in run.parts]


def source_batches(rows: list[Row], codec: Codec, batch_bytes_max: int = 500) -> bytes:
    """Dense rows as a producer's batches, each with base offset 0, as they lie in a segment."""
    batches = encode_batches(arrow(rows), batch_bytes_max=batch_bytes_max, codec=codec)
    return b"".join(bytes(8) + bytes(batch[8:]) for batch in batches)


def plain_rows(count: int, *, base: int = 0, value_bytes: int = 10, timestamp_ms: int = 1_000) -> pa.RecordBatch:
    """Many rows, quickly."""
    return arrow(
        [
            {
                "offset": base + at,
                "timestamp": timestamp_ms + at,
                "key": b"key-%d" % at,
                "value": (b"%d-" % at).ljust(value_bytes, b"v"),
                "headers": [],
            }
            for at in range(count)
        ]
    )

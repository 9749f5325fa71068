"""Records come back from a table file equal in every part, from any offset, in answers of any size."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.model.file_compression import FileCompression, compression_of
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.write.stretch import Stretch, rows_stretch, stretches_of_span
from tests.unit.records.samples import BYTES_MAX, Row, arrow, dense_rows, gapped_rows

from .files import (
    TINY_GROUPS,
    Bench,
    codecs_of,
    file_of,
    file_span,
    read_through,
    rows_of,
    source_batches,
    span_of,
    stretch_of,
    with_files,
)

spans = st.lists(st.tuples(dense_rows(min_size=1), st.sampled_from(Codec)), min_size=1, max_size=5)
FILE_COMPRESSIONS = st.sampled_from(["zstd", "lz4", "snappy", "gzip", "brotli", "uncompressed"]).map(
    lambda codec: compression_of({"write.parquet.compression-codec": codec})
)


@settings(deadline=None, max_examples=80)
@given(
    by_partition=st.dictionaries(st.integers(0, 5), spans, min_size=1, max_size=3),
    bytes_max=st.integers(1, 3_000),
    batch_bytes_max=st.integers(100, 2_000),
    codec=st.sampled_from(Codec),
    cache_bytes_max=st.sampled_from([0, 2_000, 1 << 20]),
    compression=FILE_COMPRESSIONS,
)
def test_records_of_all_codecs_come_back_equal(
    by_partition: dict[int, list[tuple[list[Row], Codec]]],
    bytes_max: int,
    batch_bytes_max: int,
    codec: Codec,
    cache_bytes_max: int,
    compression: FileCompression,
) -> None:
    stretches: list[Stretch] = []
    expected: dict[int, list[Row]] = {}
    for partition, parts in sorted(by_partition.items()):
        base = 1_000 * partition
        for rows, source in parts:
            data = source_batches(rows, source)
            stretches += stretches_of_span(
                data, partition=partition, base_offset=base, append_ms=-1, decompressed_bytes_max=BYTES_MAX
            )
            expected.setdefault(partition, []).extend({**row, "offset": base + row["offset"]} for row in rows)
            base += len(rows)
    content, descriptor = file_of(stretches, limits=TINY_GROUPS, compression=compression)
    encoding = Encoding(codec=codec, batch_bytes_max=batch_bytes_max)

    async def replay(bench: Bench) -> None:
        for partition, rows in expected.items():
            span = file_span(descriptor, partition)
            assert rows_of(await read_through(bench.reader, span, 0, bytes_max, encoding)) == rows

    with_files({descriptor.path: content}, replay, cache_bytes_max=cache_bytes_max)


@settings(deadline=None, max_examples=100)
@given(rows=gapped_rows().filter(bool), data=st.data())
def test_a_read_from_any_offset_gives_what_lies_there_and_skips_nothing(rows: list[Row], data: st.DataObject) -> None:
    content, descriptor = file_of([stretch_of(rows)], limits=TINY_GROUPS)
    span = file_span(descriptor)
    near = [row["offset"] + step for row in rows for step in (-1, 0, 1)]
    offset = data.draw(st.sampled_from([at for at in near if 0 <= at <= span.last_offset]) | st.just(0))
    bytes_max = data.draw(st.integers(1, 2_000))

    async def replay(bench: Bench) -> list[Row]:
        return rows_of(await read_through(bench.reader, span, offset, bytes_max, Encoding(batch_bytes_max=300)))

    from_offset = [row for row in with_files({descriptor.path: content}, replay) if row["offset"] >= offset]
    assert from_offset == [row for row in rows if row["offset"] >= offset]


@settings(deadline=None, max_examples=100)
@given(rows=gapped_rows().filter(bool), data=st.data())
def test_rows_of_two_files_are_merged_by_offset(rows: list[Row], data: st.DataObject) -> None:
    in_log = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    shares = {
        "main.parquet": [row for row, log in zip(rows, in_log, strict=True) if not log],
        "log.parquet": [row for row, log in zip(rows, in_log, strict=True) if log],
    }
    files = {
        path: file_of([stretch_of(share)], path=path, limits=TINY_GROUPS)[0] for path, share in shares.items() if share
    }
    span = span_of(tuple(files), rows[-1]["offset"])
    bytes_max = data.draw(st.integers(1, 2_000))

    async def replay(bench: Bench) -> list[Row]:
        return rows_of(await read_through(bench.reader, span, 0, bytes_max, Encoding(batch_bytes_max=300)))

    assert with_files(files, replay) == rows


def test_uncompressed_sources_come_back_uncompressed_and_compressed_ones_in_the_codec_asked_for() -> None:
    rows: list[Row] = [
        {"offset": at, "timestamp": 7, "key": b"k", "value": b"v" * 50, "headers": []} for at in range(30)
    ]
    stretches = [
        rows_stretch(arrow(rows[first : first + 10]), partition=0, codec=codec)
        for first, codec in ((0, Codec.NONE), (10, Codec.GZIP), (20, Codec.NONE))
    ]
    content, descriptor = file_of(stretches)

    async def replay(bench: Bench) -> None:
        for asked in (Codec.LZ4, Codec.ZSTD, Codec.NONE):
            runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20, Encoding(codec=asked))
            assert codecs_of(runs) == [Codec.NONE, asked, Codec.NONE]

    with_files({descriptor.path: content}, replay)


def test_null_and_empty_are_different_and_stay_so() -> None:
    rows: list[Row] = [
        {"offset": at, "timestamp": -1, "key": key, "value": value, "headers": headers}
        for at, (key, value, headers) in enumerate(
            (key, value, headers)
            for key in (None, b"")
            for value in (None, b"")
            for headers in ([], [{"key": "", "value": None}], [{"key": "", "value": b""}])
        )
    ]
    content, descriptor = file_of([stretch_of(rows)])

    async def replay(bench: Bench) -> list[Row]:
        return rows_of(await read_through(bench.reader, file_span(descriptor), 0, 1 << 20))

    assert with_files({descriptor.path: content}, replay) == rows

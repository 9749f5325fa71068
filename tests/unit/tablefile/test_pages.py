"""Values read from their pages are those that Arrow reads, and damaged pages hurt nobody."""

import io
import random
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.tablefile.read.pages import BadPages, are_plain, plain_pages
from lakestream.storage.tablefile.write.metrics import starts_at

VALUES = st.lists(st.binary(max_size=40), min_size=1, max_size=60)


def column(values: Sequence[bytes | None], **options: object) -> tuple[pq.ColumnSchema, pq.ColumnChunkMetaData, bytes]:
    """A chunk of several pages, and its bytes."""
    settings: dict[str, object] = {"compression": "zstd", "use_dictionary": False, "data_page_size": 200}
    out = io.BytesIO()
    table = pa.table({"value": pa.array(values, pa.binary())})
    pq.write_table(table, out, write_batch_size=7, **{**settings, **options})
    metadata = pq.ParquetFile(out).metadata
    chunk = metadata.row_group(0).column(0)
    start = starts_at(chunk)
    return metadata.schema.column(0), chunk, out.getvalue()[start : start + chunk.total_compressed_size]


def all_values(chunk: pq.ColumnChunkMetaData, data: bytes) -> list[bytes]:
    """What the pages hold, each valid in itself."""
    found = []
    for page in plain_pages(chunk, data):
        values = page.array()
        values.validate(full=True)
        found += values.to_pylist()
    return found


@settings(max_examples=60, deadline=None)
@given(values=VALUES, compression=st.sampled_from(["zstd", "lz4", "none"]))
def test_values_are_what_was_written(values: list[bytes], compression: str) -> None:
    schema, chunk, data = column(values, compression=compression)
    assert are_plain(schema, chunk)
    assert all_values(chunk, data) == values


def test_pages_are_not_copied() -> None:
    _, chunk, data = column([b"a value that is longer than a view"] * 50, compression="none")
    whole = pa.py_buffer(data)
    pages = [page.buffer for page in plain_pages(chunk, data)]
    assert len(pages) > 1
    assert all(whole.address <= page.address < whole.address + whole.size for page in pages)


@pytest.mark.parametrize("at", [0, 20, 49])
def test_from_the_page_of_the_first_null_on_values_are_left_to_arrow(at: int) -> None:
    values: list[bytes | None] = [b"value"] * 50
    values[at] = None
    _, chunk, data = column(values)
    found = all_values(chunk, data)
    assert len(found) <= at
    assert found == values[: len(found)]
    assert bool(found) == (at == 49), "a page has 28 rows, and those before that of the null are read"


@pytest.mark.parametrize(
    "options",
    [{"use_dictionary": True}, {"compression": "snappy"}, {"column_encoding": {"value": "DELTA_LENGTH_BYTE_ARRAY"}}],
)
def test_other_ways_to_write_a_column_are_left_to_arrow(options: dict[str, object]) -> None:
    schema, chunk, _ = column([b"value"] * 50, **options)
    assert not are_plain(schema, chunk)


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_damaged_pages_are_refused_or_read_within_their_bounds(compression: str) -> None:
    _, chunk, data = column([b"x" * length for length in range(60)], compression=compression)
    chance = random.Random(7)
    refused = 0
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        try:
            all_values(chunk, bytes(damaged))
        except (BadPages, pa.ArrowException, OSError):
            refused += 1
    assert refused > 100
    for length in (0, 1, 10, len(data) - 1):
        with pytest.raises(BadPages):
            all_values(chunk, data[:length])


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.none() | st.binary(max_size=30), min_size=1, max_size=30), first=st.integers(0, 29))
def test_values_in_views_are_encoded_as_any_others(values: list[bytes | None], first: int) -> None:
    rows = pa.RecordBatch.from_pylist(
        [
            {"offset": at, "timestamp": at, "key": None, "value": value, "headers": []}
            for at, value in enumerate(values)
        ],
        schema=SCHEMA,
    )
    views = rows.set_column(3, "value", rows.column("value").cast(pa.binary_view()))
    first = min(first, len(values) - 1)
    plain, viewed = (encode_batches(each.slice(first), batch_bytes_max=200) for each in (rows, views))
    assert [bytes(batch) for batch in viewed] == [bytes(batch) for batch in plain]

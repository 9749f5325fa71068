"""What is written is plain Parquet with field ids, cut into small row groups, and described truthfully."""

import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import BY_NAME, LEAF_IDS, arrow_schema
from lakestream.storage.tablefile.format.descriptor import FileDescriptor, PartitionRows
from lakestream.storage.tablefile.format.errors import UnstorableRows
from lakestream.storage.tablefile.format.runs import FOOTER_KEY, unpack_runs
from lakestream.storage.tablefile.write.bounds import shortened_up
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import TIMESTAMP_MS_MAX, TIMESTAMP_MS_MIN, Stretch, rows_stretch
from lakestream.storage.tablefile.write.to_columns import CHUNK_ROWS_MIN, in_columns
from lakestream.storage.tablefile.write.writer import RUNS_MAX, TableFileWriter
from tests.unit.records.samples import NOW_MS, ROWS, Row, dense_rows

from .files import TINY_GROUPS, file_of, plain_rows, stretch_of

SYSTEM = ("__partition", "__offset", "__timestamp", "__key", "__value")
UNBOUNDED = "__value"


def parquet(content: bytes) -> pq.ParquetFile:
    return pq.ParquetFile(pa.BufferReader(content))


def runs_in(content: bytes) -> list[list[Any]]:
    return [[*group] for group in unpack_runs(parquet(content).metadata.metadata[FOOTER_KEY.encode()])]


def packed(column: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return struct.pack("<i" if BY_NAME[column].iceberg == "int" else "<q", value)


def ends(column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Brute force: the least and the greatest, as Python has them."""
    numbers = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    values = [value for value in numbers.to_pylist() if value is not None]
    return (min(values), max(values)) if values else (None, None)


def test_pyarrow_and_duckdb_read_the_rows(tmp_path: Path) -> None:
    content, _ = file_of([stretch_of(ROWS, partition=3)])
    rows = parquet(content).read().to_pylist()
    assert [row["__offset"] for row in rows] == [0, 1, 2, 3]
    assert [(row["__key"], row["__value"]) for row in rows] == [(row["key"], row["value"]) for row in ROWS]
    assert [row["__headers"] for row in rows] == [row["headers"] for row in ROWS]
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    answer = duckdb.sql(
        f"select __partition, __offset, epoch_ms(__timestamp), __key, len(__headers), __value from '{path}'"
    ).fetchall()
    assert answer == [
        (3, row["offset"], row["timestamp"], row["key"], len(row["headers"]), row["value"]) for row in ROWS
    ]


def test_every_parquet_column_carries_its_field_id() -> None:
    content, _ = file_of([stretch_of(ROWS)], with_form=True)
    schema = parquet(content).schema_arrow
    assert {field.name: int(field.metadata[b"PARQUET:field_id"]) for field in schema} == {
        name: BY_NAME[name].field_id for name in schema.names
    }
    element = schema.field("__headers").type.value_field
    assert [int(field.metadata[b"PARQUET:field_id"]) for field in (element, *element.type)] == [
        2_000_000_106, 2_000_000_107, 2_000_000_108,
    ]  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(by_partition=st.dictionaries(st.integers(0, 2**31 - 1), dense_rows(min_size=1), min_size=1, max_size=3))
def test_the_descriptor_says_what_counting_by_hand_says(by_partition: dict[int, list[Row]]) -> None:
    stretches = [stretch_of(rows, partition=partition) for partition, rows in sorted(by_partition.items())]
    content, descriptor = file_of(stretches, limits=TINY_GROUPS)
    file = parquet(content)
    table = file.read()
    assert descriptor.record_count == table.num_rows
    assert descriptor.file_size_bytes == len(content)
    for name in SYSTEM:
        field_id = BY_NAME[name].field_id
        least, greatest = ends(table.column(name))
        assert descriptor.value_counts[field_id] == table.num_rows
        assert descriptor.null_value_counts[field_id] == table.column(name).null_count
        lower, upper = descriptor.lower_bounds.get(field_id), descriptor.upper_bounds.get(field_id)
        if least is None or name == UNBOUNDED:
            assert lower is upper is None
        elif isinstance(least, bytes):
            assert lower is not None and lower == least[:16]
            assert upper is None or (greatest <= upper and len(upper) <= 16)
        else:
            assert (lower, upper) == (packed(name, least), packed(name, greatest))
    groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
    assert list(descriptor.split_offsets) == [
        min(group.column(0).data_page_offset, group.column(0).dictionary_page_offset or 1 << 62) for group in groups
    ]
    for at in range(file.metadata.num_columns):
        field_id = LEAF_IDS[tuple(file.schema.column(at).path.split("."))]
        assert descriptor.column_sizes[field_id] == sum(group.column(at).total_compressed_size for group in groups)
    assert descriptor.partitions == tuple(
        PartitionRows(partition, 0, len(rows) - 1, len(rows), max(row["timestamp"] for row in rows))
        for partition, rows in sorted(by_partition.items())
    )
    assert FileDescriptor.from_json(descriptor.to_json()) == descriptor


@given(st.binary(max_size=40))
def test_a_shortened_upper_bound_is_short_and_never_below(value: bytes) -> None:
    bound = shortened_up(value)
    if bound is None:
        assert value[:16] == b"\xff" * 16 and len(value) > 16
    else:
        assert value <= bound and len(bound) <= 16
        assert bound == value or bound[:-1] == value[: len(bound) - 1]


def test_shortened_bounds_carry_over_bytes_that_cannot_be_raised() -> None:
    assert shortened_up(b"a" * 15 + b"\xff" + b"x") == b"a" * 14 + b"b"
    assert shortened_up(b"\xff" * 17) is None
    assert shortened_up(b"\xff" * 16) == b"\xff" * 16


def test_row_groups_are_bounded_in_rows_and_in_bytes() -> None:
    limits = RowGroupLimits(rows_max=100, bytes_max=10_000)
    content, _ = file_of([rows_stretch(plain_rows(250, value_bytes=10), partition=0, codec=Codec.NONE)], limits=limits)
    assert [parquet(content).metadata.row_group(at).num_rows for at in range(3)] == [100, 100, 50]
    content, _ = file_of(
        [rows_stretch(plain_rows(50, value_bytes=1_000), partition=0, codec=Codec.NONE)], limits=limits
    )
    assert {len(group) for group in runs_in(content)} == {1}
    assert [group[0].rows for group in runs_in(content)] == [9, 9, 9, 9, 9, 5]


def test_a_row_larger_than_a_row_group_has_one_of_its_own() -> None:
    rows = plain_rows(3, value_bytes=5_000)
    content, _ = file_of([rows_stretch(rows, partition=0, codec=Codec.NONE)], limits=TINY_GROUPS)
    assert [group[0].rows for group in runs_in(content)] == [1, 1, 1]


def test_small_partitions_share_a_row_group_and_large_ones_do_not() -> None:
    limits = RowGroupLimits(rows_max=100, bytes_max=1 << 20, alone_rows=50)
    sizes = (10, 10, 60, 10)
    stretches = [
        rows_stretch(plain_rows(size), partition=partition, codec=Codec.NONE) for partition, size in enumerate(sizes)
    ]
    content, _ = file_of(stretches, limits=limits)
    assert [[run.partition for run in group] for group in runs_in(content)] == [[0, 1, 2], [3]]


def test_stretches_of_one_kind_are_one_run_and_a_change_of_codec_begins_another() -> None:
    codecs = (Codec.NONE, Codec.NONE, Codec.LZ4, Codec.ZSTD, Codec.NONE)
    stretches = [
        rows_stretch(plain_rows(10, base=10 * at), partition=0, codec=codec) for at, codec in enumerate(codecs)
    ]
    (runs,) = runs_in(file_of(stretches)[0])
    assert [(run.base_offset, run.last_offset, run.source) for run in runs] == [(0, 19, 0), (20, 39, 3), (40, 49, 0)]


def test_codecs_that_take_turns_do_not_blow_up_the_footer() -> None:
    stretches = [
        rows_stretch(plain_rows(1, base=at), partition=0, codec=Codec.LZ4 if at % 2 else Codec.NONE)
        for at in range(3 * RUNS_MAX)
    ]
    (runs,) = runs_in(file_of(stretches)[0])
    assert len(runs) == RUNS_MAX
    assert sum(run.rows for run in runs) == 3 * RUNS_MAX
    assert runs[-1].is_compressed


def test_a_large_file_is_written_row_group_by_row_group() -> None:
    sink = io.BytesIO()
    writer = TableFileWriter(sink, limits=RowGroupLimits(rows_max=100))
    sizes = []
    for at in range(5):
        writer.add(rows_stretch(plain_rows(100, base=100 * at), partition=0, codec=Codec.NONE))
        sizes.append(writer.bytes_written)
    assert sizes == sorted(set(sizes)), "every full group goes to the sink before the next is taken"
    descriptor = writer.close(path="p")
    assert descriptor.file_size_bytes == len(sink.getvalue())
    assert not sink.closed
    assert parquet(sink.getvalue()).read().column("__offset").to_pylist() == list(range(500))


def test_times_at_the_ends_of_the_range_are_exact_and_beyond_them_refused() -> None:
    def row(time: int) -> list[Row]:
        return [{"offset": 0, "timestamp": time, "key": None, "value": None, "headers": []}]

    for time in (TIMESTAMP_MS_MIN, -2, 0, NOW_MS, TIMESTAMP_MS_MAX):
        column = parquet(file_of([stretch_of(row(time))])[0]).read().column("__timestamp")
        assert column.cast(pa.int64()).to_pylist() == [time * 1000]
    assert parquet(file_of([stretch_of(row(-1))])[0]).read().column("__timestamp").to_pylist() == [None]
    for time in (TIMESTAMP_MS_MIN - 1, TIMESTAMP_MS_MAX + 1, 2**63 - 1):
        with pytest.raises(UnstorableRows, match="raw"):
            stretch_of(row(time))


def wrong_schema() -> Stretch:
    rows = plain_rows(1)
    return Stretch(partition=0, source=0, rows=rows.select(["offset", "timestamp"]), last_offset=0)


@pytest.mark.parametrize(
    ("stretches", "says"),
    [
        (lambda: [stretch_of(ROWS, partition=1), stretch_of(ROWS, partition=0)], "sort"),
        (lambda: [stretch_of(ROWS), stretch_of(ROWS)], "sort"),
        (lambda: [wrong_schema()], "schema"),
    ],
)
def test_what_is_no_table_file_is_refused_with_advice(stretches: Callable[[], list[Stretch]], says: str) -> None:
    with pytest.raises(UnstorableRows, match=says):
        file_of(stretches())


def test_statistics_of_row_groups_prune_offsets_and_leave_values_out() -> None:
    content, _ = file_of([rows_stretch(plain_rows(10, value_bytes=3_000), partition=0, codec=Codec.NONE)])
    group = parquet(content).metadata.row_group(0)
    by_path = {group.column(at).path_in_schema: group.column(at) for at in range(group.num_columns)}
    assert by_path["__offset"].statistics.max == 9
    assert by_path["__value"].statistics is None
    assert pc.max(parquet(content).read().column("__offset")).as_py() == 9


def test_long_stretches_are_not_copied_together() -> None:
    long = [_alike(partition, CHUNK_ROWS_MIN) for partition in range(2)]
    chunks = in_columns(long, arrow_schema()).column("__value").chunks
    assert [_address(chunk) for chunk in chunks] == [_address(each.rows.column("value")) for each in long]


def test_short_stretches_become_one_chunk() -> None:
    short = [_alike(partition, 3) for partition in range(5)]
    table = in_columns(short, arrow_schema())
    assert table.column("__value").num_chunks == 1
    assert table.column("__partition").to_pylist() == [partition for partition in range(5) for _ in range(3)]


def test_a_row_group_of_several_long_stretches_is_read_back_whole() -> None:
    rows = plain_rows(3 * CHUNK_ROWS_MIN)
    whole = rows_stretch(rows, partition=0, codec=Codec.NONE)
    content, descriptor = file_of([whole.slice(at, CHUNK_ROWS_MIN) for at in range(0, rows.num_rows, CHUNK_ROWS_MIN)])
    assert len(descriptor.split_offsets) == 1
    assert parquet(content).read().column("__value").to_pylist() == rows.column("value").to_pylist()


def _alike(partition: int, count: int) -> Stretch:
    return rows_stretch(plain_rows(count), partition=partition, codec=Codec.NONE)


def _address(array: pa.Array) -> int:
    return int(array.buffers()[2].address)

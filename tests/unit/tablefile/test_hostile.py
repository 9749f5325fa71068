"""A damaged file is told by name, as something to restore; it never crashes a reader or changes a record unseen."""

import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.blocks import SummingSink
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.runs import FOOTER_KEY, BadRuns, RowRun, pack_runs, unpack_runs
from lakestream.storage.tablefile.format.sink import Parts
from lakestream.storage.tablefile.write.stretch import rows_stretch
from tests.unit.records.samples import ROWS, Row

from .files import (
    PATH,
    TINY_GROUPS,
    Bench,
    file_of,
    file_span,
    plain_rows,
    read_through,
    rows_of,
    stretch_of,
    with_files,
)

LONG = rows_stretch(plain_rows(40), partition=0, codec=Codec.NONE)
CONTENT, DESCRIPTOR = file_of([LONG], limits=TINY_GROUPS)
SPAN = file_span(DESCRIPTOR)
EXPECTED: list[Row] = LONG.rows.to_pylist()


async def read_all(bench: Bench) -> list[Row]:
    rows = rows_of(await read_through(bench.reader, SPAN, 0, 1 << 20))
    await bench.reader.max_timestamp(SPAN, 3)
    return rows


def with_runs(change: Callable[[list[list[list[int]]]], object], *, key: str = FOOTER_KEY) -> bytes:
    """The same rows under a footer that says something else about them."""
    table = pq.read_table(pa.BufferReader(CONTENT)).replace_schema_metadata(None)
    groups = json.loads(pq.read_metadata(pa.BufferReader(CONTENT)).metadata[FOOTER_KEY.encode()])["groups"]
    change(groups)
    return parquet_of(
        [table.slice(at, 4) for at in range(0, 40, 4)], {key: json.dumps({"version": 1, "codec": 1, "groups": groups})}
    )


def parquet_of(groups: list[pa.Table], metadata: dict[str, str]) -> bytes:
    """Parquet with sound checksums, whatever is in it."""
    parts = Parts()
    sink = SummingSink(parts)
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group)
        writer.add_key_value_metadata(metadata)
        sink.hold()
    sink.finish()
    return b"".join(parts.parts)


@settings(deadline=None, max_examples=150)
@given(at=st.integers(0, len(CONTENT) - 1), flip=st.integers(1, 255))
def test_a_flipped_byte_anywhere_is_told_by_name(at: int, flip: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[at] ^= flip
    with pytest.raises(MalformedTableFile, match=PATH):
        with_files({PATH: bytes(damaged)}, read_all)


@settings(deadline=None, max_examples=60)
@given(length=st.integers(0, len(CONTENT) - 1))
def test_a_file_that_was_cut_is_told_by_name(length: int) -> None:
    with pytest.raises(MalformedTableFile, match=PATH):
        with_files({PATH: CONTENT[:length]}, read_all)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300))
def test_bytes_that_are_no_file_are_told_by_name(content: bytes) -> None:
    with pytest.raises(MalformedTableFile, match=PATH):
        with_files({PATH: content + b"\x20\x00\x00\x00PAR1"}, read_all)


def test_parquet_of_another_writer_is_told_as_such() -> None:
    with pytest.raises(MalformedTableFile, match="not written by Lakestream"):
        with_files({PATH: with_runs(lambda groups: None, key="other")}, read_all)


def test_the_same_rows_under_a_true_footer_are_read() -> None:
    assert with_files({PATH: with_runs(lambda groups: None)}, read_all) == EXPECTED


def _set(group: int, field: int, value: int) -> Callable[[list[list[list[int]]]], object]:
    def change(groups: list[list[list[int]]]) -> None:
        groups[group][0][field] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_set(0, 1, 5), id="more rows than there are"),
        pytest.param(_set(3, 2, 11), id="overlapping offsets"),
        pytest.param(_set(9, 2, 37), id="another base"),
        pytest.param(_set(9, 3, 100), id="another end"),
        pytest.param(_set(9, 4, -1), id="a raw batch that is none"),
        pytest.param(_set(9, 4, 16), id="an unknown source"),
        pytest.param(_set(9, 3, 1 << 63), id="an offset past the last"),
        pytest.param(lambda groups: groups.pop(), id="a group too few"),
        pytest.param(lambda groups: groups[0].clear(), id="a group without runs"),
        pytest.param(lambda groups: groups[0][0].pop(), id="a run cut short"),
        pytest.param(lambda groups: groups[0][0].__setitem__(1, "4"), id="text for a number"),
    ],
)
def test_a_footer_that_does_not_fit_its_rows_is_told_by_name(change: Callable[[list[list[list[int]]]], object]) -> None:
    with pytest.raises(MalformedTableFile, match=PATH):
        with_files({PATH: with_runs(change)}, read_all)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_json_crashes_the_reader_of_runs(content: object) -> None:
    for text in (json.dumps(content), json.dumps({"version": 1, "codec": 1, "groups": content})):
        try:
            unpack_runs(text)
        except BadRuns:
            continue


def test_a_newer_version_is_told_from_damage() -> None:
    for newer in ({"version": 2, "codec": 1, "groups": []}, {"version": 1, "codec": 2, "groups": []}):
        with pytest.raises(BadRuns, match="newer Lakestream"):
            unpack_runs(json.dumps(newer))


def test_runs_survive_being_packed() -> None:
    groups = [[RowRun(0, 4, 0, 3, 0, 7), RowRun(1, 1, 5, 90, -1, -1)], [RowRun(2, 2, 1 << 40, 1 << 41, 12, 1 << 50)]]
    assert unpack_runs(pack_runs(groups)) == groups


def test_a_file_of_other_columns_is_refused() -> None:
    content = parquet_of([pa.table({"__offset": [0]})], {FOOTER_KEY: pack_runs([[RowRun(0, 1, 0, 0, 0, 0)]])})
    with pytest.raises(MalformedTableFile, match="__partition"):
        with_files({PATH: content}, read_all)


def test_damage_to_one_file_leaves_the_others_readable() -> None:
    content, descriptor = file_of([stretch_of(ROWS)], path="other.parquet")

    async def both(bench: Bench) -> None:
        with pytest.raises(MalformedTableFile):
            await read_all(bench)
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20)
        assert rows_of(runs) == ROWS

    with_files({PATH: CONTENT[:-5], "other.parquet": content}, both)

"""Rows of files that engines wrote become records: columns by field id, values in the topic's format, keys."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from lakestream.contract.codecs.avro.codec import writer_of as avro_writer
from lakestream.contract.codecs.protobuf.codec import writer_of as protobuf_writer
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.of_files import lacks_ids
from lakestream.contract.registry.submitted import understood
from lakestream.contract.topic.declared import declared
from lakestream.contract.topic.topic_contract import RAW_TOPIC, TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER, ValueFormat
from lakestream.contract.values.binding import bind
from lakestream.contract.values.composing import RowComposer, encoding_text
from lakestream.contract.values.frames import without_frame
from tests.unit.columns.test_declared import array, field, mapping, struct

Json = dict[str, Any]


def with_id(name: str, type: pa.DataType, id: int) -> pa.Field:
    return pa.field(name, type, metadata={"PARQUET:field_id": str(id)})


def contract_of(fields: list[Json], format: ValueFormat) -> TopicContract:
    made = declared("row", columns_of(fields), format)
    if made.schema is None:
        return TopicContract(mode=ValueMode.PLAIN, layout=made.layout, writers=(JSON_WRITER,), declared=True)
    parsed = understood(made.schema, [], normalize=False).parsed
    if format is ValueFormat.AVRO:
        writer = avro_writer(parsed, 7)
    else:
        writer = protobuf_writer(parsed, number=7, framed=True, message="")
    return TopicContract(mode=ValueMode.FRAMED, layout=made.layout, writers=(writer,), declared=True)


FIELDS = [
    field(1, "id", "long"),
    field(2, "s", "string"),
    field(3, "d", "double"),
    field(4, "b", "boolean"),
    field(5, "o", struct(field(6, "x", "long"), field(7, "y", "string"))),
    field(8, "l", array(9, struct(field(10, "z", "string"), field(11, "n", array(12, "long"))))),
]
INNER = pa.struct([with_id("n", pa.list_(with_id("element", pa.int64(), 12)), 11), with_id("z", pa.string(), 10)])
FILE = pa.schema(
    [
        with_id("other", pa.int64(), 99),
        with_id("l", pa.list_(with_id("element", INNER, 9)), 8),
        with_id("o", pa.struct([with_id("renamed", pa.string(), 7), with_id("x", pa.int32(), 6)]), 5),
        with_id("b", pa.bool_(), 4),
        with_id("d", pa.float64(), 3),
        with_id("s", pa.large_string(), 2),
        with_id("id", pa.int32(), 1),
    ]
)
"""Another order, other names and types than the table's, as engines may write them."""
ROWS = [
    {"other": 1, "id": 5, "s": 'a"\\\n\x01é', "d": 2.0, "b": True, "o": {"renamed": "y", "x": 3}, "l": []},
    {"other": 2, "id": None, "s": None, "d": float("nan"), "b": None, "o": None, "l": None},
    {"id": 7, "s": "", "d": -1e-7, "b": False, "o": {}, "l": [{"z": "q", "n": [1, None]}, None, {"z": None, "n": []}]},
]
EXPECTED = [
    {"id": 5, "s": 'a"\\\n\x01é', "d": 2.0, "b": True, "o": {"x": 3, "y": "y"}, "l": []},
    {"id": None, "s": None, "d": None, "b": None, "o": None, "l": None},
    {
        "id": 7,
        "s": "",
        "d": -1e-7,
        "b": False,
        "o": {"x": None, "y": None},
        "l": [{"z": "q", "n": [1, None]}, None, {"z": None, "n": []}],
    },
]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_rows_are_json_of_the_declared_columns_wherever_a_piece_begins(first: int) -> None:
    batch = pa.RecordBatch.from_pylist(ROWS, schema=FILE).slice(first)
    encoding = encoding_text(contract_of(FIELDS, ValueFormat.JSON), "id")
    keys, values = RowComposer().compose(encoding, batch)
    assert [json.loads(value) for value in values.to_pylist()] == EXPECTED[first:]
    assert keys.to_pylist() == [b"5", None, b"7"][first:]


def test_json_is_what_the_codec_reads_back_into_the_same_columns() -> None:
    contract = contract_of(FIELDS, ValueFormat.JSON)
    _, values = RowComposer().compose(encoding_text(contract, None), pa.RecordBatch.from_pylist(ROWS, schema=FILE))
    decoded = bind(JSON_WRITER, contract.layout, declared=True).decode(values)
    assert decoded.errors.rows == []
    assert decoded.columns.to_pylist() == EXPECTED


AVRO_FIELDS = [
    *FIELDS,
    field(20, "t", "timestamptz"),
    field(21, "day", "date"),
    field(22, "p", "decimal(9,2)"),
    field(23, "m", mapping(24, "string", "int")),
    field(26, "u", "uuid"),
]
KEY_FIELD = with_id("key", pa.string(), 24).with_nullable(False)
AVRO_FILE = pa.schema(
    [
        *FILE,
        with_id("t", pa.timestamp("us", "UTC"), 20),
        with_id("day", pa.date32(), 21),
        with_id("p", pa.decimal128(9, 2), 22),
        with_id(
            "m", pa.map_(with_id("key", pa.string(), 24).with_nullable(False), with_id("value", pa.int32(), 25)), 23
        ),
        with_id("u", pa.binary(16), 26),
    ]
)


@pytest.mark.parametrize("first", [0, 1])
def test_rows_are_avro_with_the_id_of_the_schema_in_front(first: int) -> None:
    more = {"t": datetime(2026, 1, 2, tzinfo=UTC), "day": date(2026, 1, 2), "p": Decimal("1.25"), "u": bytes(16)}
    rows = [ROWS[1], ROWS[0] | more | {"m": [("a", 1), ("b", None)]}, ROWS[2]]
    contract = contract_of(AVRO_FIELDS, ValueFormat.AVRO)
    batch = pa.RecordBatch.from_pylist(rows, schema=AVRO_FILE).slice(first)
    _, values = RowComposer().compose(encoding_text(contract, None), batch)
    assert all(value.startswith(b"\0\0\0\0\x07") for value in values.to_pylist())
    decoded = bind(contract.writers[0], contract.layout).decode(without_frame(values))
    assert decoded.errors.rows == []
    found = decoded.columns.to_pylist()
    own = {name: found[1 - first][name] for name in ("id", "t", "day", "p", "m", "u")}
    assert own == {"id": 5, **more, "m": [("a", 1), ("b", None)]}
    assert found[-1]["l"] == EXPECTED[2]["l"]


def test_rows_are_protobuf() -> None:
    fields = [field(1, "id", "long"), field(2, "s", "string"), field(5, "o", struct(field(6, "x", "long")))]
    contract = contract_of(fields, ValueFormat.PROTOBUF)
    batch = pa.RecordBatch.from_pylist(ROWS, schema=FILE)
    _, values = RowComposer().compose(encoding_text(contract, "s"), batch)
    decoded = bind(contract.writers[0], contract.layout).decode(without_frame(values))
    assert decoded.columns.to_pylist() == [
        {"id": 5, "s": 'a"\\\n\x01é', "o": {"x": 3}},
        {"id": None, "s": None, "o": None},
        {"id": 7, "s": "", "o": {"x": None}},
    ]


def test_a_column_that_the_file_lacks_is_null() -> None:
    batch = pa.RecordBatch.from_pylist([{"id": 1}], schema=pa.schema([with_id("id", pa.int64(), 1)]))
    _, values = RowComposer().compose(encoding_text(contract_of(FIELDS, ValueFormat.JSON), None), batch)
    assert json.loads(values[0].as_py()) == dict.fromkeys(EXPECTED[0]) | {"id": 1}


def test_keys_need_a_column_of_a_plain_type_and_records_need_declared_columns() -> None:
    contract = contract_of(FIELDS, ValueFormat.JSON)
    with pytest.raises(CannotFollow, match="no column 'nope'"):
        encoding_text(contract, "nope")
    with pytest.raises(CannotFollow, match="'o' is struct"):
        encoding_text(contract, "o")
    with pytest.raises(CannotFollow, match="no declared columns"):
        encoding_text(RAW_TOPIC, None)


def test_files_without_field_ids_are_known_at_every_depth() -> None:
    assert not lacks_ids(FILE)
    assert lacks_ids(pa.schema([pa.field("id", pa.int64())]))
    assert lacks_ids(pa.schema([with_id("o", pa.struct([pa.field("x", pa.int64())]), 5)]))
    assert lacks_ids(pa.schema([with_id("l", pa.list_(pa.int64()), 8)]))

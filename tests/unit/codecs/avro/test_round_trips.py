"""What fastavro writes is decoded to what fastavro reads, and encoded to the same bytes again."""

import datetime
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from lakestream.contract.codecs.avro.codec import bind, writer_of
from lakestream.contract.codecs.codec import Writer
from lakestream.contract.columns.layout import Layout
from tests.unit.codecs.avro.samples import as_read, codec_of, few, layout_of, parsed, read, samples, written

Sample = tuple[Any, list[Any]]


@few
@given(samples())
def test_columns_hold_what_was_written_and_give_the_bytes_back(sample: Sample) -> None:
    schema, values = sample
    rows = written(schema, values)
    codec = codec_of(schema)
    decoded = codec.decode(rows)
    decoded.columns.validate(full=True)
    assert decoded.errors.rows == []
    assert repr(as_read(schema, decoded.columns)) == repr(read(schema, rows))
    assert decoded.exact.all()
    assert codec.encode(decoded.columns, None).equals(rows)


@few
@given(samples())
def test_slices_are_like_whole_arrays(sample: Sample) -> None:
    schema, values = sample
    rows = written(schema, [*values, *values, *values])
    part = rows.slice(len(values), len(values))
    codec = codec_of(schema)
    whole = codec.decode(rows).columns
    assert codec.decode(part).columns.equals(whole.slice(len(values), len(values)))
    assert codec.encode(whole.slice(len(values), len(values)), None).equals(part)


@few
@given(samples())
def test_columns_that_went_through_parquet_give_the_bytes_back(sample: Sample) -> None:
    schema, values = sample
    rows = written(schema, values)
    codec = codec_of(schema)
    file = io.BytesIO()
    pq.write_table(pa.Table.from_batches([codec.decode(rows).columns]), file)
    columns = pq.read_table(file).combine_chunks().to_batches()
    assert [row for batch in columns for row in codec.encode(batch, None).to_pylist()] == rows.to_pylist()


@few
@given(samples())
def test_a_writer_is_complete_in_itself(sample: Sample) -> None:
    schema, values = sample
    rows = written(schema, values)
    layout = layout_of(schema)
    writer = writer_of(parsed(schema), 7)
    codec = bind(Writer.from_json(writer.to_json()), Layout.from_text(layout.to_text()))
    assert codec.encode(codec.decode(rows).columns, None).equals(rows)


def test_nothing_to_decode_is_no_trouble() -> None:
    codec = codec_of({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    decoded = codec.decode(pa.array([], type=pa.binary()))
    assert decoded.columns.num_rows == 0
    assert len(codec.encode(decoded.columns, None)) == 0


FORMS = [
    ("padded number", "int", b"\x80\x00"),
    ("list in two blocks", {"type": "array", "items": "int"}, b"\x02\x02\x02\x04\x00"),
    ("list with its bytes", {"type": "array", "items": "int"}, b"\x03\x04\x02\x04\x00"),
    ("padded decimal", {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 0}, b"\x04\x00\x01"),
]


@pytest.mark.parametrize(("schema", "row"), [form[1:] for form in FORMS], ids=[form[0] for form in FORMS])
def test_another_form_of_the_same_value_is_decoded_but_its_bytes_must_be_kept(schema: Any, row: bytes) -> None:
    rows = pa.array([row], type=pa.binary())
    decoded = codec_of(schema).decode(rows)
    assert decoded.errors.rows == []
    assert repr(as_read(schema, decoded.columns)) == repr(read(schema, rows))
    assert not decoded.exact.any()


def test_times_beyond_what_microseconds_hold_are_errors() -> None:
    schema = {"type": "long", "logicalType": "timestamp-millis"}
    rows = written("long", [2**63 - 1, -(2**63), 0, (2**63 - 1) // 1000, -(2**63 // 1000)])
    decoded = codec_of(schema).decode(rows)
    assert decoded.errors.rows == [0, 1]
    assert decoded.errors.reasons[0] == "field 'value' is out of range: 9223372036854775807"
    assert decoded.exact.tolist() == [False, False, True, True, True]
    assert decoded.columns["value"][2].as_py() == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def test_a_decimal_of_more_digits_than_its_column_is_an_error() -> None:
    schema = {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}
    rows = written("bytes", [b"\x03\xe7", b"\x03\xe8", b"\xfc\x18", b"\xfc\x19", b"\x01" * 17, b"\x00" * 40 + b"\x05"])
    decoded = codec_of(schema).decode(rows)
    assert decoded.errors.rows == [1, 2, 4]
    assert [str(one) for one in decoded.columns["value"].to_pylist()] == [
        "99.9",
        "None",
        "None",
        "-99.9",
        "None",
        "0.5",
    ]


def test_bits_of_floats_survive() -> None:
    nans = [b"\x01\x00\xc0\x7f", b"\x00\x00\xc0\xff", b"\x00\x00\x00\x80"]
    codec = codec_of("float")
    decoded = codec.decode(pa.array(nans, type=pa.binary()))
    assert decoded.exact.all()
    assert codec.encode(decoded.columns, None).to_pylist() == nans


FIXED = {"type": "fixed", "name": "F"}
UNUSUAL = [
    ({**FIXED, "size": 16, "logicalType": "uuid"}, bytes(range(16)), bytes(range(16))),
    ({**FIXED, "size": 12, "logicalType": "duration"}, bytes(range(12)), bytes(range(12))),
    ({**FIXED, "size": 0}, b"", True),
    ("null", b"", None),
    ({"type": "long", "logicalType": "timestamp-nanos"}, b"\x01", -1),
    ({"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 1}, b"\x04ab", b"ab"),
    ({**FIXED, "size": 30, "logicalType": "decimal", "precision": 60}, b"x" * 30, b"x" * 30),
    ({"type": "string", "logicalType": "uuid"}, b"\x08None", "None"),
]


@pytest.mark.parametrize(("schema", "row", "value"), UNUSUAL)
def test_types_that_fastavro_treats_in_its_own_way(schema: Any, row: bytes, value: Any) -> None:
    rows = pa.array([row, row], type=pa.binary())
    codec = codec_of(schema)
    decoded = codec.decode(rows)
    assert decoded.columns["value"].to_pylist() == [value, value]
    assert decoded.exact.all()
    assert codec.encode(decoded.columns, None).equals(rows)


def test_columns_that_hold_nothing_where_the_schema_needs_something_are_refused_by_name() -> None:
    codec = codec_of({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    decoded = codec.decode(pa.array([b"\x02", b""], type=pa.binary()))
    with pytest.raises(ValueError, match="row 1: the column of 'a' holds no value"):
        codec.encode(decoded.columns, None)

"""Protobuf values and columns: held against Protobuf's own library, with messages it makes and bytes nobody made."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.protobuf.codec import bind, writer_of
from lakestream.contract.codecs.protobuf.warm import KERNELS, warm
from lakestream.contract.columns.from_protobuf import wanted_columns
from lakestream.contract.columns.layout import Layout
from tests.unit.codecs.protobuf_messages import (
    codec_of,
    fill,
    message_class,
    parsed,
    row_of,
    schemas,
    shown,
)

WIDE = parsed(
    """
    enum Colour { RED = 0; GREEN = 1; }
    message Row {
      int32 id = 1; optional string name = 2; repeated int64 numbers = 3; map<string, Part> parts = 4; Part part = 5;
      oneof choice { string text = 6; Part chosen = 7; } google.protobuf.Timestamp at = 8; Colour colour = 9;
      repeated Part many = 10; double price = 11; Row inner = 12; fixed32 four = 13;
      google.protobuf.StringValue note = 14;
    }
    message Part { string name = 1; repeated string words = 2; bool yes = 3; }
    """
)
Row = message_class(WIDE)
WIDE_CODEC = codec_of(WIDE)
PARTS_NUMBER = 4


def decoded(*values: bytes, codec: Any = None) -> Any:
    return (codec or WIDE_CODEC).decode(pa.array(values, pa.binary()))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_messages_of_any_schema_become_rows_and_the_same_bytes_again(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    kind = message_class(schema)
    framed = data.draw(st.booleans())
    messages = [fill(data.draw, kind()) for _ in range(data.draw(st.integers(1, 4)))]
    values = [b"\0" * framed + message.SerializeToString() for message in messages]
    codec = codec_of(schema, framed=framed)
    found = decoded(*values, codec=codec)
    found.columns.validate(full=True)
    assert not found.errors.rows
    for row, message in zip(found.columns.to_pylist(), messages, strict=True):
        assert shown(row, message) == row_of(message)
    assert found.exact.all()
    assert codec.encode(found.columns, None).to_pylist() == values
    assert codec.encode(found.columns[1:], None).to_pylist() == values[1:]
    assert codec.encode(_through_parquet(found.columns), None).to_pylist() == values


def _through_parquet(columns: pa.RecordBatch) -> pa.RecordBatch:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    (batch,) = pq.read_table(pa.BufferReader(sink.getvalue())).cast(columns.schema).to_batches()
    return batch


def _mutated(draw: Any, value: bytes) -> bytes:
    cut = bytearray(value)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(cut)))
        match draw(st.sampled_from(("drop", "put", "double"))):
            case "drop":
                del cut[at : at + draw(st.integers(1, 4))]
            case "put":
                cut[at:at] = draw(st.binary(min_size=1, max_size=4))
            case _:
                cut += cut[at:]
    return bytes(cut)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_hostile_bytes_are_errors_or_what_protobufs_own_library_reads(data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        values = [_mutated(data.draw, fill(data.draw, Row()).SerializeToString()) for _ in range(3)]
    else:
        values = data.draw(st.lists(st.binary(max_size=40), min_size=1, max_size=3))
    codec = WIDE_CODEC
    found = decoded(*values, codec=codec)
    found.columns.validate(full=True)
    written = codec.encode(found.columns, None).to_pylist()
    for number, (value, row) in enumerate(zip(values, found.columns.to_pylist(), strict=True)):
        if number in found.errors.rows:
            assert set(row.values()) == {None}
            assert not found.exact[number]
            continue
        assert found.exact[number] == (written[number] == value)
        message = Row.FromString(value)
        left_out = ["parts"] if _leaves_out_entries(message) else []
        same = _comparable(row, left_out) == _comparable(row_of(message), left_out)
        assert same, f"{value!r} is read as {row}"


def _leaves_out_entries(message: Any) -> bool:
    """An entry of a map that has an unknown field in it is itself unknown to Python's library, though not to Java's."""
    return any(field.field_number == PARTS_NUMBER for field in UnknownFieldSet(message))


def test_an_entry_of_a_map_with_an_unknown_field_is_read_and_its_bytes_are_kept() -> None:
    found = decoded(b'"\x07\n\x01a\x12\x002\x00', codec=WIDE_CODEC)
    assert [key for key, _ in found.columns.to_pylist()[0]["parts"]] == ["a"]
    assert not found.exact[0]


def _comparable(row: dict[str, Any], left_out: Iterable[str]) -> str:
    """As text, in which nan is nan; without the text of messages in messages, and times that may be of any year."""
    found = shown({**row, "inner": None, "at": None, **dict.fromkeys(left_out)}, Row())
    return repr({key: sorted(value.items()) if key == "parts" and value else value for key, value in found.items()})


@given(st.binary(max_size=30))
@settings(max_examples=300, deadline=None)
def test_what_protobufs_own_library_refuses_is_an_error(value: bytes) -> None:
    try:
        Row.FromString(value)
    except DecodeError:
        assert decoded(value).errors.rows == [0]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\x08", "field 'id': the number has no end"),
        (b"\x59\x00\x00\x00", "field 'price': ends after 3 of 8 bytes"),
        (b"\x12\x05ab", "field 'name': ends after 2 of 5 bytes"),
        (b"\x12\x02\xff\xfe", "field 'name': is not UTF-8"),
        (b"\x2a\x04\x0a\x02\xff\xfe", "field 'part.name': is not UTF-8"),
        (b"\x42\x07\x08\xff\xff\xff\xff\xff\x7f", "field 'at': a time outside of the years 1 to 9999"),
        (b"\xa2\x06\x09", "field number 100: ends too early"),
        (b"\x00", "not a t.Row: something in it is no field"),
    ],
)
def test_a_row_that_cannot_be_read_says_which_field_and_why(value: bytes, reason: str) -> None:
    good = Row(id=7, name="x", numbers=[1, 2]).SerializeToString()
    found = decoded(good, value, good)
    assert (found.errors.rows, found.errors.reasons) == ([1], [reason])
    assert [row["numbers"] for row in found.columns.to_pylist()] == [[1, 2], None, [1, 2]]
    assert found.exact.tolist() == [True, False, True]


def test_a_few_bytes_that_stand_for_very_many_elements_are_refused() -> None:
    fields = " ".join(f"string f{number} = {number};" for number in range(1, 200))
    schema = parsed(f"message Row {{ repeated Part many = 1; }} message Part {{ {fields} }}")
    found = decoded(b"\x0a\x00" * 10_000, b"\x0a\x00", codec=codec_of(schema))
    assert found.errors.rows == [0]
    assert len(found.columns.to_pylist()[1]["many"]) == 1


def test_unknown_fields_are_passed_over_and_the_bytes_are_kept() -> None:
    found = decoded(Row(id=5).SerializeToString() + b"\xa0\x06\x01")
    assert found.columns.to_pylist()[0]["id"] == 5
    assert not found.exact[0]


def test_what_is_written_in_another_way_than_serializers_do_is_read_and_its_bytes_are_kept() -> None:
    default_written = b"\x08\x00"
    out_of_order = Row(name="a").SerializeToString() + Row(id=1).SerializeToString()
    unpacked = b"\x18\x01\x18\x02"
    two_of_a_oneof = Row(text="a").SerializeToString() + Row(chosen={"name": "b"}).SerializeToString()
    key_twice = (
        Row(parts={"a": {"name": "1"}}).SerializeToString() + Row(parts={"a": {"name": "2"}}).SerializeToString()
    )
    found = decoded(default_written, out_of_order, unpacked, two_of_a_oneof, key_twice)
    rows = found.columns.to_pylist()
    assert not found.exact.any() and not found.errors.rows
    assert (rows[1]["id"], rows[1]["name"]) == (1, "a")
    assert rows[2]["numbers"] == [1, 2]
    assert (rows[3]["text"], rows[3]["chosen"]["name"]) == (None, "b")
    assert [(key, part["name"]) for key, part in rows[4]["parts"]] == [("a", "2")]


def test_a_message_within_itself_is_json_text_and_its_bytes_are_kept() -> None:
    found = decoded(Row(inner={"id": 3, "inner": {"name": "deep"}}).SerializeToString(), Row(id=1).SerializeToString())
    assert found.columns.to_pylist()[0]["inner"] == '{"id": 3, "inner": {"name": "deep"}}'
    assert found.exact.tolist() == [False, True]


def test_a_time_finer_than_a_microsecond_keeps_its_bytes() -> None:
    found = decoded(Row(at={"seconds": 1, "nanos": 1001}).SerializeToString())
    assert found.columns.to_pylist()[0]["at"].microsecond == 1
    assert not found.exact[0]


def test_values_of_another_message_of_the_file_are_errors() -> None:
    schema = parsed("message Row { int32 id = 1; } message Other { int32 id = 1; message Inner { int32 id = 1; } }")
    codec = codec_of(schema, framed=True)
    others = b"\x02\x02\x08\x07", b"\x04\x02\x00\x08\x07", b"\x02\x0e\x08", b"\x01", b"\xff\xff", b""
    found = decoded(b"\x00\x08\x07", b"\x02\x00\x08\x07", *others, codec=codec)
    assert found.errors.rows == [2, 3, 4, 5, 6, 7]
    own = "and the topic's message is t.Row: see lakestream.value.message"
    assert found.errors.reasons[:2] == [f"the value is a t.Other, {own}", f"the value is a t.Other.Inner, {own}"]
    assert set(found.errors.reasons[2:]) == {f"the value does not say which message it is, {own}"}
    assert found.exact.tolist() == [True] + [False] * 7
    assert found.columns.column("id").to_pylist() == [7, 7] + [None] * 6
    inner = writer_of(schema, number=1, framed=True, message="t.Other.Inner")
    assert inner.indexes == (1, 0)
    nested = bind(inner, Layout().merged(wanted_columns(schema, "t.Other.Inner")))
    assert decoded(b"\x04\x02\x00\x08\x07", codec=nested).exact.all()


def test_old_values_come_back_from_columns_that_were_renamed_widened_and_joined_by_others() -> None:
    old = parsed("message Row { int32 id = 1; float price = 2; Part part = 3; } message Part { string name = 1; }")
    new = parsed(
        "message Row { int64 number = 1; double cost = 2; Part part = 3; string more = 4; } "
        "message Part { bool yes = 2; string title = 1; }"
    )
    kind = message_class(old)
    values = [kind(id=-5, price=1.1, part={"name": "x"}).SerializeToString(), kind().SerializeToString()]
    layout = Layout().merged(wanted_columns(old)).merged(wanted_columns(new))
    codec = bind(writer_of(old, number=1, framed=False), layout)
    found = decoded(*values, codec=codec)
    assert found.exact.all()
    assert codec.encode(found.columns, None).to_pylist() == values
    assert found.columns.to_pylist()[0]["more"] is None
    assert found.columns.schema.field(0).type == pa.int64()


def test_a_field_without_a_column_is_passed_over_and_the_bytes_are_kept() -> None:
    schema = parsed("message Row { int32 id = 1; string text = 2; }")
    layout = Layout().merged(wanted_columns(parsed("message Row { int32 id = 1; int32 text = 2; }")))
    codec = bind(writer_of(schema, number=1, framed=False), layout)
    kind = message_class(schema)
    found = decoded(kind(id=1, text="a").SerializeToString(), kind(id=2).SerializeToString(), codec=codec)
    assert found.columns.to_pylist() == [{"id": 1, "text": None}, {"id": 2, "text": None}]
    assert found.exact.tolist() == [False, True]


def test_slices_and_no_rows_at_all_are_values_too() -> None:
    codec = WIDE_CODEC
    values = pa.array([Row(id=number, numbers=range(number)).SerializeToString() for number in range(9)])
    found = codec.decode(values[4:7])
    assert found.columns.column("id").to_pylist() == [4, 5, 6]
    assert codec.encode(found.columns[1:2], None).to_pylist() == values[5:6].to_pylist()
    nothing = codec.decode(values[:0])
    assert nothing.exact.size == 0
    assert codec.encode(nothing.columns, None).to_pylist() == []
    assert nothing.exact.dtype == np.bool_


def test_every_kernel_is_compiled_for_one_kind_of_arguments_and_warming_is_enough() -> None:
    warm()
    test_slices_and_no_rows_at_all_are_values_too()
    assert [len(kernel.signatures) for kernel in KERNELS] == [1] * len(KERNELS)

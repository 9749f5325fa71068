"""Random Protobuf schemas, messages of them, and what their columns should hold: by Protobuf's own library."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as F
from hypothesis import strategies as st

from lakestream.contract.codecs.protobuf.codec import ProtobufCodec, bind, writer_of
from lakestream.contract.columns.from_protobuf import WRAPPERS, is_map, wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.protobuf.format import ProtobufFormat, ProtoSchema

_IMPORTS = 'import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";'
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS = (
    "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool",
)  # fmt: skip
_SCALARS = (*_NUMBERS, "float", "double", "string", "bytes", "Colour")
_MESSAGES = ("google.protobuf.Timestamp", "google.protobuf.StringValue", "google.protobuf.UInt64Value")


def parsed(text: str, syntax: str = "proto3") -> ProtoSchema:
    return ProtobufFormat().parse(f'syntax = "{syntax}"; package t; {_IMPORTS} {text}', [])


def message_class(schema: ProtoSchema, name: str = "Row") -> Any:
    return message_factory.GetMessageClass(schema.pool.FindMessageTypeByName(f"t.{name}"))


def codec_of(schema: ProtoSchema, *, layout: Layout | None = None, framed: bool = False) -> ProtobufCodec:
    own = (layout or Layout()).merged(wanted_columns(schema))
    return bind(writer_of(schema, number=1, framed=framed), own)


# --- schemas -----------------------------------------------------------------------------------


@st.composite
def schemas(draw: st.DrawFn) -> ProtoSchema:
    syntax = draw(st.sampled_from(("proto3", "proto3", "proto2")))
    inner = _fields(draw, (*_SCALARS, *_MESSAGES), syntax)
    outer = _fields(draw, (*_SCALARS, *_MESSAGES, "Part", "Part"), syntax)
    unnamed = "" if syntax == "proto3" else "TWELVE = 12;"  # in proto2 a number without a name is no value
    colours = f"enum Colour {{ RED = 0; GREEN = 1; BLUE = -7; {unnamed} }}"
    return parsed(f"{colours} message Row {{ {outer} }} message Part {{ {inner} }}", syntax)


def _fields(draw: st.DrawFn, types: tuple[str, ...], syntax: str) -> str:
    numbers = sorted(draw(st.sets(st.sampled_from([*range(1, 20), 300, 2**29 - 1]), min_size=1, max_size=7)))
    lines, chosen = [], []
    for number in numbers:
        kind, name = draw(st.sampled_from(types)), f"f{number}"
        bare = "" if syntax == "proto3" else "optional "
        label = draw(st.sampled_from((bare, bare, "optional ", "repeated ", "map", "oneof")))
        if label == "map":
            lines.append(f"map<{draw(st.sampled_from((*_NUMBERS, 'string')))}, {kind}> {name} = {number};")
        elif label == "oneof":
            chosen.append(f"{kind} {name} = {number};")
        else:
            choice = label == "repeated " and kind in _NUMBERS and draw(st.booleans())
            packed = f" [packed = {str(syntax == 'proto2').lower()}]" if choice else ""
            lines.append(f"{label}{kind} {name} = {number}{packed};")
    return " ".join([*lines, f"oneof choice {{ {' '.join(chosen)} }}" if chosen else ""])


# --- messages ----------------------------------------------------------------------------------

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
_BITS = {
    **dict.fromkeys((F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32), st.integers(-(2**31), 2**31 - 1)),
    **dict.fromkeys((F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64), st.integers(-(2**63), 2**63 - 1)),
    **dict.fromkeys((F.TYPE_UINT32, F.TYPE_FIXED32), st.integers(0, 2**32 - 1)),
    **dict.fromkeys((F.TYPE_UINT64, F.TYPE_FIXED64), st.integers(0, 2**64 - 1)),
    F.TYPE_ENUM: st.sampled_from((0, 1, -7, 12)),
    F.TYPE_BOOL: st.booleans(),
    F.TYPE_FLOAT: st.floats(width=32, allow_nan=False),
    F.TYPE_DOUBLE: st.floats(allow_nan=False),
    F.TYPE_STRING: _TEXTS,
    F.TYPE_BYTES: st.binary(max_size=12),
}


def fill(draw: Any, message: Any) -> Any:
    """Set some of its fields."""
    for field in message.DESCRIPTOR.fields:
        if draw(st.booleans()):
            _fill_field(draw, message, field)
    return message


def _fill_field(draw: Any, message: Any, field: Any) -> None:
    here = getattr(message, field.name)
    count = draw(st.integers(0, 3))
    if is_map(field):
        key, value = field.message_type.fields
        for _ in range(count):
            at = draw(_BITS[key.type])
            if value.message_type is None:
                here[at] = draw(_BITS[value.type])
            else:
                _fill_message(draw, here[at])
    elif field.is_repeated:
        for _ in range(count):
            if field.message_type is None:
                here.append(draw(_BITS[field.type]))
            else:
                _fill_message(draw, here.add())
    elif field.message_type is None:
        setattr(message, field.name, draw(_BITS[field.type]))
    else:
        here.SetInParent()
        _fill_message(draw, here)


def _fill_message(draw: Any, message: Any) -> None:
    if message.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
        message.seconds = draw(st.integers(-62_135_596_800, 253_402_300_799))
        message.nanos = draw(st.integers(0, 999_999)) * 1000
    else:
        fill(draw, message)


# --- what columns should hold ------------------------------------------------------------------


def row_of(message: Any) -> dict[str, Any]:
    return {field.name: _column_value(message, field) for field in message.DESCRIPTOR.fields}


def _column_value(message: Any, field: Any) -> Any:
    here = getattr(message, field.name)
    if is_map(field):
        key, value = field.message_type.fields
        return {_value(key, one): _value(value, here[one]) for one in here}
    if field.is_repeated:
        return [_value(field, one) for one in here]
    return None if field.has_presence and not message.HasField(field.name) else _value(field, here)


def _value(field: Any, value: Any) -> Any:
    if field.type == F.TYPE_ENUM:
        known = field.enum_type.values_by_number
        return known[value].name if value in known else str(value)
    if field.type in (F.TYPE_UINT64, F.TYPE_FIXED64):
        return Decimal(value)
    if field.message_type is None:
        return value
    name = field.message_type.full_name
    if name == "google.protobuf.Timestamp":
        return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    if name in WRAPPERS:
        return _value(field.message_type.fields[0], value.value)
    return row_of(value)


def shown(row: Any, message: Any) -> dict[str, Any]:
    """A row as Arrow shows it, its maps as dicts."""
    return {field.name: _shown_value(row[field.name], field) for field in message.DESCRIPTOR.fields}


def _shown_value(value: Any, field: Any) -> Any:
    if value is None:
        return None
    if is_map(field):
        inner = field.message_type.fields[1]
        pairs = dict(value)
        assert len(pairs) == len(value), "a map has a key twice"
        return {key: _shown_one(one, inner) for key, one in pairs.items()}
    if field.is_repeated:
        return [_shown_one(one, field) for one in value]
    return _shown_one(value, field)


def _shown_one(value: Any, field: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {inner.name: _shown_value(value[inner.name], inner) for inner in field.message_type.fields}

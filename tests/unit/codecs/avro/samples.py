"""Random Avro schemas with values, written by fastavro; and our columns as fastavro would have read the values."""

import datetime
import io
import json
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.avro.codec import AvroCodec, bind, writer_of
from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.avro.format import AvroFormat, AvroSchema

Json = Any

few = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""Properties of kernels: no deadline, since the first call may compile."""

PRIMITIVES = ["boolean", "int", "long", "float", "double", "bytes", "string"]
LOGICAL = [
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10},
]


def parsed(schema: Json) -> AvroSchema:
    return AvroFormat().parse(json.dumps(schema), [])


def layout_of(*schemas: Json) -> Layout:
    layout = Layout()
    for schema in schemas:
        layout = layout.merged(wanted_columns(parsed(schema)))
    return layout


def codec_of(schema: Json, layout: Layout | None = None) -> AvroCodec:
    return bind(writer_of(parsed(schema), 7), layout or layout_of(schema))


def written(schema: Json, values: Sequence[Any]) -> pa.BinaryArray:
    ready = fastavro.parse_schema(schema)
    rows = []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, ready, value)
        rows.append(out.getvalue())
    return pa.array(rows, type=pa.binary())


def read(schema: Json, rows: pa.BinaryArray) -> list[Any]:
    ready = fastavro.parse_schema(schema)
    return [fastavro.schemaless_reader(io.BytesIO(row), ready, None) for row in rows.to_pylist()]


# --- random schemas and values ------------------------------------------------------------------


class _Names:
    def __init__(self) -> None:
        self.count = 0

    def new(self) -> str:
        self.count += 1
        return f"N{self.count}"


def named(names: _Names) -> st.SearchStrategy[Json]:
    symbols = st.lists(st.sampled_from(["RED", "GREEN", "BLUE", "R", "RE", "_", "A1"]), min_size=1, unique=True)
    return st.one_of(
        symbols.map(lambda found: {"type": "enum", "name": names.new(), "symbols": found}),
        st.integers(1, 20).map(lambda size: {"type": "fixed", "name": names.new(), "size": size}),
        st.sampled_from([300]).map(lambda size: {"type": "fixed", "name": names.new(), "size": size}),
        st.builds(
            lambda scale: {
                "type": "fixed",
                "name": names.new(),
                "size": 20,
                "logicalType": "decimal",
                "precision": 20,
                "scale": scale,
            },
            st.integers(0, 5),
        ),
    )


@st.composite
def types(draw: st.DrawFn, names: _Names, depth: int, in_union: bool = False) -> Json:
    choices = ["primitive"] * 3 + ["logical", "named"]
    if depth > 0:
        choices += ["record", "array", "map", "empty"] + ([] if in_union else ["optional", "optional", "union", "null"])
    match draw(st.sampled_from(choices)):
        case "primitive":
            return draw(st.sampled_from(PRIMITIVES))
        case "logical":
            return dict(draw(st.sampled_from(LOGICAL)))
        case "named":
            return draw(named(names))
        case "record":
            return draw(records(names, depth - 1))
        case "empty":
            return {"type": "record", "name": names.new(), "fields": []}
        case "array":
            return {"type": "array", "items": draw(types(names, depth - 1))}
        case "map":
            return {"type": "map", "values": draw(types(names, depth - 1))}
        case "null":
            return draw(st.sampled_from(["null", ["null"]]))
        case "optional":
            inner = draw(types(names, depth - 1, in_union=True))
            return draw(st.sampled_from([["null", inner], [inner, "null"], [inner]]))
    # Branches that fastavro tells apart by the value.
    branches = [
        "boolean",
        "long",
        draw(st.sampled_from(["string", "bytes"])),
        draw(records(names, 0)),
        {"type": "map", "values": "int"} if draw(st.booleans()) else {"type": "array", "items": "float"},
    ]
    chosen = draw(st.lists(st.sampled_from(branches), min_size=2, unique_by=str))
    if any(isinstance(one, dict) and one["type"] == "map" for one in chosen):  # both are dictionaries in Python
        chosen = [one for one in chosen if not isinstance(one, dict) or one["type"] != "record"]
    at = draw(st.integers(0, len(chosen)))
    return chosen[:at] + (["null"] if draw(st.booleans()) else []) + chosen[at:]


@st.composite
def records(draw: st.DrawFn, names: _Names, depth: int) -> Json:
    inner = draw(st.lists(types(names, depth), min_size=1, max_size=5))
    return {
        "type": "record",
        "name": names.new(),
        "fields": [{"name": f"f{n}", "type": one} for n, one in enumerate(inner)],
    }


def values(schema: Json) -> st.SearchStrategy[Any]:
    if isinstance(schema, list):
        return st.one_of([values(one) for one in schema])
    kind = schema if isinstance(schema, str) else schema["type"]
    logical = schema.get("logicalType") if isinstance(schema, dict) else None
    if logical == "decimal":
        return _decimals(schema)
    if logical is not None:
        return _LOGICAL_VALUES[logical]
    match kind:
        case "record":
            return st.fixed_dictionaries({field["name"]: values(field["type"]) for field in schema["fields"]})
        case "array":
            return st.lists(values(schema["items"]), max_size=4)
        case "map":
            return st.dictionaries(st.text(max_size=5), values(schema["values"]), max_size=4)
        case "enum":
            return st.sampled_from(schema["symbols"])
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
    return _PRIMITIVE_VALUES[kind]


def _decimals(schema: Json) -> st.SearchStrategy[Decimal]:
    digits, scale = schema["precision"], schema["scale"]
    unscaled = st.integers(-(10**digits) + 1, 10**digits - 1)
    if schema["type"] == "bytes":  # fastavro writes -128, -32768, ... in a byte more than needed
        unscaled = unscaled.filter(lambda number: number >= 0 or (-number).bit_length() == (-number - 1).bit_length())
    return unscaled.map(lambda number: Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale)))


_MOMENTS = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))
_UTC_MOMENTS = _MOMENTS.map(lambda moment: moment.replace(tzinfo=datetime.UTC))
_LOGICAL_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "date": st.dates(),
    "time-millis": st.times(),
    "time-micros": st.times(),
    "timestamp-millis": _UTC_MOMENTS,
    "timestamp-micros": _UTC_MOMENTS,
    "local-timestamp-millis": _MOMENTS,
    "local-timestamp-micros": _MOMENTS,
    "uuid": st.uuids(),
}
_PRIMITIVE_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=20),
    "string": st.text(max_size=20),
}


@st.composite
def samples(draw: st.DrawFn, *, record: bool = False) -> tuple[Json, list[Any]]:
    """A schema and some values."""
    names = _Names()
    schema = draw(records(names, 3) if record else st.one_of(records(names, 3), types(names, 3)))
    return schema, draw(st.lists(values(schema), max_size=8))


# --- columns as fastavro's values ---------------------------------------------------------------


def as_read(schema: Json, columns: pa.RecordBatch) -> list[Any]:
    """By the schema's own names: for layouts whose columns have no others."""
    rows = columns.to_pylist()
    if isinstance(schema, dict) and schema["type"] == "record" and takes_bytes(schema):
        return [_value(schema, row) for row in rows]
    return [_value(schema, row["value"]) for row in rows]


def _value(schema: Json, value: Any) -> Any:
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        if value is None or not others:
            return None
        if len(others) == 1:
            return _value(others[0], value)
        ((key, found),) = [(key, found) for key, found in value.items() if found is not None]
        return _value(next(one for one in others if _branch(one) == key), found)
    kind = schema if isinstance(schema, str) else schema["type"]
    match kind:
        case "record":
            return {
                field["name"]: _value(field["type"], value[field["name"]])
                if takes_bytes(field["type"])
                else _value_without_bytes(field["type"])
                for field in schema["fields"]
            }
        case "array":
            return [_value(schema["items"], one) for one in value]
        case "map":
            return {key: _value(schema["values"], one) for key, one in value}
    if isinstance(schema, dict) and schema.get("logicalType") == "uuid":
        return uuid.UUID(value)
    if isinstance(schema, dict) and schema.get("logicalType") in ("time-millis", "time-micros") and value is not None:
        micros = value * (1_000 if schema["logicalType"] == "time-millis" else 1)
        return (datetime.datetime.min + datetime.timedelta(microseconds=micros)).time()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    return value


def _branch(schema: Json) -> str:
    return schema if isinstance(schema, str) else schema.get("name", schema["type"])


def takes_bytes(schema: Json) -> bool:
    if isinstance(schema, dict) and schema["type"] == "record":
        return any(takes_bytes(field["type"]) for field in schema["fields"])
    return bool(schema != "null")


def _value_without_bytes(schema: Json) -> Any:
    if schema == "null":
        return None
    return {field["name"]: _value_without_bytes(field["type"]) for field in schema["fields"]}

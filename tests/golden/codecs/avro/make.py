"""Write the golden files of the Avro codec that are missing. Never overwrites one that is there."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakestream.contract.codecs.avro.codec import bind, writer_of
from tests.unit.codecs.avro.samples import layout_of, parsed, written

HERE = Path(__file__).parent


def record(name: str, **types: Any) -> Any:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": type} for field, type in types.items()]}


def logical(carrier: str, name: str, **more: Any) -> Any:
    return {"type": carrier, "logicalType": name, **more}


FLAT = record(
    "Flat", a="boolean", b="int", c="long", d="float", e="double", f="bytes", g="string", h=["null", "string"]
)
LOGICAL = record(
    "Logical",
    day=logical("int", "date"),
    time=logical("int", "time-millis"),
    micros=logical("long", "time-micros"),
    at=logical("long", "timestamp-millis"),
    exactly=logical("long", "timestamp-micros"),
    local=logical("long", "local-timestamp-micros"),
    price=logical("bytes", "decimal", precision=9, scale=2),
    large={"type": "fixed", "name": "Large", "size": 17, "logicalType": "decimal", "precision": 38, "scale": 0},
    token=logical("string", "uuid"),
)
ITEM = record("Item", sku="string", state={"type": "enum", "name": "State", "symbols": ["NEW", "SOLD"]})
NESTED = record(
    "Nested",
    items={"type": "array", "items": ["null", ITEM]},
    tags={"type": "map", "values": {"type": "array", "items": "long"}},
    choice=["null", "long", "string", {"type": "fixed", "name": "Two", "size": 2}],
    nothing="null",
    inner=record("Inner", x=["int", "null"], empty=["null", record("Empty")]),
)
WIDER = record("Flat", added=["null", "int"], b="long", d="double", h=["null", "string"])
WIDER["fields"][3] |= {"name": "renamed", "aliases": ["h"]}

NOON = datetime.datetime(2026, 3, 1, 12, 30, 15, 250_000)
FLAT_ROWS = [
    {"a": True, "b": -1, "c": 2**62, "d": 0.5, "e": -1e300, "f": b"\x00\xff", "g": "grün", "h": None},
    {"a": False, "b": 2**31 - 1, "c": -64, "d": -0.0, "e": 0.1, "f": b"", "g": "", "h": "a longer text than a word"},
]
CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "flat": (FLAT, FLAT_ROWS, [FLAT]),
    "logical": (
        LOGICAL,
        [
            {
                "day": NOON.date(),
                "time": NOON.time(),
                "micros": datetime.time(23, 59, 59, 999_999),
                "at": NOON.replace(tzinfo=datetime.UTC),
                "exactly": NOON.replace(tzinfo=datetime.UTC),
                "local": NOON,
                "price": Decimal("-1234.56"),
                "large": Decimal(10**38 - 1),
                "token": "2f1c52a0-5f0b-4a6e-9d5e-0c1f2a3b4c5d",
            }
        ],
        [LOGICAL],
    ),
    "nested": (
        NESTED,
        [
            {
                "items": [{"sku": "x", "state": "SOLD"}, None, {"sku": "", "state": "NEW"}],
                "tags": {"a": [1, -2], "b": []},
                "choice": "text",
                "nothing": None,
                "inner": {"x": 5, "empty": {}},
            },
            {"items": [], "tags": {}, "choice": None, "nothing": None, "inner": {"x": None, "empty": None}},
            {"items": [None], "tags": {}, "choice": b"ab", "nothing": None, "inner": {"x": 0, "empty": None}},
        ],
        [NESTED],
    ),
    "evolved": (FLAT, FLAT_ROWS, [FLAT, WIDER]),
}


def case(schema: Any, values: list[Any], versions: list[Any]) -> tuple[str, bytes]:
    writer, layout, rows = writer_of(parsed(schema), 17), layout_of(*versions), written(schema, values)
    decoded = bind(writer, layout).decode(rows)
    assert decoded.exact.all()
    facts = {"writer": writer.to_json(), "layout": json.loads(layout.to_text())}
    facts["rows"] = [row.hex() for row in rows.to_pylist()]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, decoded.columns.schema) as file:
        file.write(decoded.columns)
    return json.dumps(facts, indent=1) + "\n", sink.getvalue().to_pybytes()


def main() -> None:
    for name, (schema, values, versions) in CASES.items():
        if not (HERE / f"{name}.json").exists():
            text, columns = case(schema, values, versions)
            (HERE / f"{name}.json").write_text(text)
            (HERE / f"{name}.arrow").write_bytes(columns)
            print(f"wrote {name}")


if __name__ == "__main__":
    main()

"""Write the golden files of typed values, version 1. Never overwrites one that is there.

python -m tests.golden.values.make
"""

import io
import json
import struct
from pathlib import Path

import fastavro

from lakestream.contract.codecs.avro.codec import writer_of
from lakestream.contract.codecs.json.inference import wanted_from_unknown
from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.values.topic_contract import TopicContract, ValueMode
from lakestream.contract.values.value_config import JSON_WRITER
from tests.unit.values.files import typed_files

HERE = Path(__file__).parent
ID = 7
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "item", "type": ["null", "string"], "doc": "what was ordered"},
        {"name": "sizes", "type": {"type": "array", "items": "int"}},
    ],
}
JSON_VALUES: list[bytes | None] = [
    b'{"id":1,"name":"a","price":1.5,"ok":true}',
    b'{"id": 2, "name": "b", "price": 2.50, "tags": ["x", {"y": null}]}',
    b'{"name":null,"id":3}',
    b'{"id": "four"}',
    b"broken",
    None,
]


def avro_values() -> list[bytes | None]:
    def value(order: dict[str, object]) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMA), order)
        return struct.pack(">bi", 0, ID) + out.getvalue()

    good = [{"id": 1, "item": "a", "sizes": [1, 2]}, {"id": -5, "item": None, "sizes": []}]
    return [*map(value, good), b"\x00\x00\x00\x00\x07\x02", b"\x00\x00\x00\x00\x09", None]


def avro_contract() -> TopicContract:
    parsed = AvroFormat().parse(json.dumps(SCHEMA), [])
    layout = Layout().merged(wanted_columns(parsed))
    unfit = {8: "column 'id' is long and cannot become string"}
    return TopicContract(
        mode=ValueMode.FRAMED, layout=layout, writers=(writer_of(parsed, ID),), declared=True, unfit=unfit
    )


def json_contract() -> TopicContract:
    empty = TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,))
    _, needs = typed_files(empty, JSON_VALUES)
    layout = Layout().merged(wanted_from_unknown(needs.keys, Layout()))
    return TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,), layout=layout)


def main() -> None:
    for name, contract, values in (
        ("avro", avro_contract(), avro_values()),
        ("json", json_contract(), JSON_VALUES),
    ):
        files, _ = typed_files(contract, values)
        facts = {
            "contract": contract.to_text(),
            "values": [None if value is None else value.hex() for value in values],
            "files": len(files),
        }
        contents = {f"{name}-v1.json": (json.dumps(facts, indent=1) + "\n").encode()}
        contents |= {f"{name}-v1-{number}.parquet": content for number, content in enumerate(files)}
        for file, content in contents.items():
            if not (HERE / file).exists():
                (HERE / file).write_bytes(content)
                print(f"wrote {file}")


if __name__ == "__main__":
    main()

"""Write the golden files of typed values and keys. Never overwrites one that is there.

python -m tests.golden.values.make
"""

import io
import json
import struct
from dataclasses import replace
from pathlib import Path

import fastavro

from lakestream.contract.codecs.avro.codec import writer_of
from lakestream.contract.codecs.json.inference import grown_by_unknown
from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.topic.key_columns import wanted_of_keys
from lakestream.contract.topic.topic_contract import KeyContract, TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER
from lakestream.model.configs.value_configs import ValueKeeping
from tests.unit.values.files import replayed, typed_files

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

ODD_VALUES: list[bytes | None] = [
    b'{"id":\t1,"price":15e-1}',
    b'{"id":2,"name":"\\u0062"}',
    b'{"id":3,"id":4}',
    b"broken",
]
"""Of a topic that waives exact replay; its golden values are those that come back."""


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
    layout = grown_by_unknown(needs.keys, Layout())
    return TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,), layout=layout)


def keyed_contract() -> TopicContract:
    """Framed keys, records and not, beside JSON values that have a field called `key`."""
    contract = json_contract()
    layout = contract.layout.merged([Wanted(key="key", kind="long")])
    writers = []
    for id, schema in ((ID, SCHEMA), (ID + 1, "long")):
        parsed = AvroFormat().parse(json.dumps(schema), [])
        writers.append(writer_of(parsed, id))
        layout = layout.merged_keys(wanted_of_keys(writers[-1], wanted_columns(parsed)))
    key = KeyContract(mode=ValueMode.FRAMED, writers=tuple(writers), declared=True, unfit={9: "no columns"})
    return replace(contract, layout=layout, key=key)


def keys() -> list[bytes | None]:
    return [*avro_values()[:3], b"\x00\x00\x00\x00\x08\x0e", b"text", None]


def main() -> None:
    for name, contract, values, own_keys in (
        ("avro-v1", avro_contract(), avro_values(), None),
        ("json-v1", json_contract(), JSON_VALUES, None),
        ("keyed-v2", keyed_contract(), JSON_VALUES, keys()),
        ("restated-v1", replace(json_contract(), keeping=ValueKeeping.NEVER), ODD_VALUES, None),
    ):
        files, _ = typed_files(contract, values, own_keys)
        values = list(replayed(files).values()) if contract.keeping is ValueKeeping.NEVER else values
        facts = {
            "contract": contract.to_text(),
            "values": [None if value is None else value.hex() for value in values],
            "files": len(files),
        }
        if own_keys is not None:
            facts["keys"] = [None if key is None else key.hex() for key in own_keys]
        contents = {f"{name}.json": (json.dumps(facts, indent=1) + "\n").encode()}
        contents |= {f"{name}-{number}.parquet": content for number, content in enumerate(files)}
        for file, content in contents.items():
            if not (HERE / file).exists():
                (HERE / file).write_bytes(content)
                print(f"wrote {file}")


if __name__ == "__main__":
    main()

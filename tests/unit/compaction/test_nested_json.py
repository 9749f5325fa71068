"""Nested JSON through compaction and back: structs, lists and `__rest` for SQL, the very bytes for Kafka."""

import json
from dataclasses import replace
from typing import Any

from lakestream.contract.codecs.json import codec as json_codec
from lakestream.contract.codecs.json.slots import FLAT_VERSION
from lakestream.contract.columns.json_text import wanted_json_text
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.submitted import Submitted
from lakestream.contract.topic.renewing import renewed
from lakestream.contract.topic.topic_contract import TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER
from lakestream.model.registry import SchemaFormat
from tests.unit.compaction.site import Site, run
from tests.unit.compaction.test_typed import framed, record, values
from tests.unit.values.files import replayed, typed_files


def test_nested_json_becomes_structs_and_lists_that_grow_with_their_records() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        first = [
            json.dumps({"id": n, "ship": {"city": f"c{n}", "zip": n}, "tags": ["a", "b"][: n % 3]}).encode()
            for n in range(9)
        ]
        await site.produce(topic.partitions[0], [record(value) for value in first])
        await site.round()
        later = [
            b'{"id":9,"ship":{"zip":9,"city":null,"geo":{"lat":1.5}},"tags":null}',
            b'{"id":10,"ship":null}',
            b'{"id":11,"ship":{}}',
            b'{"id":12,"ship":"by hand","tags":[1]}',
        ]
        await site.produce(topic.partitions[0], [record(value) for value in later])
        await site.round()
        rows = await site.table(topic)
        ships = [row["ship"] for row in rows]
        assert ships[1] == {"city": "c1", "zip": 1}, "as its file has it"
        assert ships[9:] == [
            {"city": None, "zip": 9, "geo": {"lat": 1.5}},
            None,
            {"city": None, "zip": None, "geo": None},
            None,
        ]
        assert [row["tags"] for row in rows][:3] == [[], ["a"], ["a", "b"]]
        assert [row["__value"] for row in rows] == [None] * 12 + [later[3]]
        assert await values(site, topic.partitions[0]) == first + later

    run(scenario)


def test_more_keys_than_columns_go_to_the_rest() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        produced = [json.dumps({"id": n} | {f"k{n}-{k}": k for k in range(300)}).encode() for n in range(4)]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        await site.produce(topic.partitions[0], [record(b'{"id":4,"new":{"a":[1]}}')])
        await site.round()
        fields = (await site.metadata(topic))["schemas"][-1]["fields"]
        assert [field["name"] for field in fields][499:502] == ["k1-198", "__rest", "__partition"]
        rows = await site.table(topic)
        assert rows[0]["__rest"] is None
        assert json.loads(rows[3]["__rest"]) == {f"k3-{k}": k for k in range(300)}
        assert rows[4]["__rest"] == '{"new":{"a":[1]}}'
        assert {row["__value"] for row in rows} == {None}
        assert await values(site, topic.partitions[0]) == [*produced, b'{"id":4,"new":{"a":[1]}}']

    run(scenario)


SHIP: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}},
    "additionalProperties": False,
}
LATER = SHIP | {"properties": SHIP["properties"] | {"country": {"type": "string"}}}


def test_objects_of_a_json_schema_are_structs_and_their_types_are_checked() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json", lakestream_value_schema="id")
        ids = []
        for ship in (SHIP, LATER):
            properties = {"id": {"type": "integer"}, "ship": ship}
            text = json.dumps({"type": "object", "properties": properties})
            submitted = Submitted(format=SchemaFormat.JSON, text=text)
            ids.append((await site.registry.register("orders-value", submitted)).schema.id)
        produced = [
            framed(ids[0], b'{"id":1,"ship":{"city":"Oslo","zip":150}}'),
            framed(ids[1], b'{"id":2,"ship":{"country":"NO","city":"Oslo"}}'),
            framed(ids[0], b'{"id":3,"ship":{"zip":"150"}}'),
            framed(ids[0], b'{"id":4,"ship":null}'),
        ]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        rows = await site.table(topic)
        assert [row["ship"] for row in rows] == [
            {"city": "Oslo", "zip": 150, "country": None},
            {"city": "Oslo", "zip": None, "country": "NO"},
            None,
        ]
        assert {row["__value"] for row in rows} == {None}
        set_aside = await site.table(topic, "quarantine")
        assert [row["__error"] for row in set_aside] == ["field 'ship.zip' (byte 22): a string where long is declared"]
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


def test_a_topic_of_before_there_were_structs_keeps_its_text_and_goes_on() -> None:
    old = TopicContract(
        mode=ValueMode.PLAIN,
        layout=Layout().merged([wanted_json_text("ship")]),
        writers=(replace(JSON_WRITER, codec=FLAT_VERSION),),
    )
    produced: list[bytes | None] = [b'{"ship":{"city":"Oslo"}}', b'{"ship": [1, 2], "new": {"x": 1}}']
    before, _ = typed_files(old, produced)
    today = renewed(TopicContract.from_text(old.to_text()))
    assert [writer.codec for writer in today.writers] == [json_codec.CODEC_VERSION]
    after, needs = typed_files(today, produced)
    assert needs.keys == {"new": {"x": "long"}}
    assert replayed(before) == replayed(after) == dict(enumerate(produced))


ITEM: dict[str, Any] = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
    "additionalProperties": False,
}


def test_arrays_of_objects_are_lists_of_structs_that_grow_with_their_schema() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json", lakestream_value_schema="id")
        ids = []
        for item in (ITEM, ITEM | {"properties": ITEM["properties"] | {"price": {"type": "number"}}}):
            properties = {"id": {"type": "integer"}, "items": {"type": "array", "items": item}}
            submitted = Submitted(
                format=SchemaFormat.JSON, text=json.dumps({"type": "object", "properties": properties})
            )
            ids.append((await site.registry.register("orders-value", submitted)).schema.id)
        produced = [
            framed(ids[0], b'{"id":1,"items":[{"sku":"a","n":1},{"sku":"b","n":2}]}'),
            framed(ids[1], b'{"id":2,"items":[{"sku":"c","n":3,"price":1.5}]}'),
            framed(ids[0], b'{"id":3,"items":[{"sku":"a","n":1},{"sku":7}]}'),
            framed(ids[0], b'{"id":4,"items":[{"sku":"a"},{"n":2}]}'),
        ]
        for part in (produced[:1], produced[1:]):
            await site.produce(topic.partitions[0], [record(value) for value in part])
            await site.round()
        rows = await site.table(topic)
        assert [row["items"] for row in rows] == [
            [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}],
            [{"sku": "c", "n": 3, "price": 1.5}],
            [{"sku": "a", "n": None, "price": None}, {"sku": None, "n": 2, "price": None}],
        ], "each as its file has it"
        assert [row["__value"] for row in rows] == [None, None, produced[3]]
        (bad,) = await site.table(topic, "quarantine")
        assert bad["__error"] == "in 'items[1]': field 'sku' (byte 7): a number where string is declared"
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)

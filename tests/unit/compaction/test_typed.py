"""Typed topics through compaction and back: columns for SQL, the very bytes for Kafka."""

import base64
import io
import json
import struct
from typing import Any

import fastavro
import pytest

from lakestream.contract.registry.submitted import Submitted
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.errors import Unavailable
from lakestream.model.job import JobCommit
from lakestream.model.registry import SchemaFormat
from lakestream.model.repair import Repair, RepairState
from lakestream.model.topic import Topic
from lakestream.table.resting import SECONDS_FIRST
from tests.unit.compaction.site import TTL_MS, Passing, Site, run

ORDER = """{"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"},
    {"name": "item", "type": "string"},
    {"name": "price", "type": ["null", "double"]}]}"""
WITH_NOTE = ORDER[:-2] + """, {"name": "note", "type": ["null", "string"], "default": null}]}"""


def framed(id: int, body: bytes) -> bytes:
    return struct.pack(">bi", 0, id) + body


def avro(id: int, schema: str, value: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), value)
    return framed(id, out.getvalue())


def record(value: bytes | None, key: bytes | None = None) -> dict[str, Any]:
    return {"timestamp": 1_700_000_000_000, "key": key, "value": value, "headers": []}


async def registered(site: Site, schema: str, subject: str = "orders-value") -> int:
    submitted = Submitted(format=SchemaFormat.AVRO, text=schema)
    return (await site.registry.register(subject, submitted)).schema.id


async def values(site: Site, partition: int) -> list[bytes | None]:
    return [row["value"] for row in await site.read(partition)]


@pytest.mark.parametrize("format", ["avro", "auto"])
def test_framed_avro_becomes_columns_and_comes_back_byte_by_byte(format: str) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format=format)
        id = await registered(site, ORDER)
        produced = [avro(id, ORDER, {"id": n, "item": f"i{n}", "price": n / 2 if n % 2 else None}) for n in range(50)]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        assert (await site.round()).committed == 1
        rows = await site.table(topic)
        assert [(row["id"], row["item"], row["price"]) for row in rows] == [
            (n, f"i{n}", n / 2 if n % 2 else None) for n in range(50)
        ]
        assert {row["__value"] for row in rows} == {None}
        assert await site.places(topic.partitions[0]) == "F"
        assert await values(site, topic.partitions[0]) == produced
        schema = (await site.metadata(topic))["schemas"][-1]
        assert [field["name"] for field in schema["fields"]][:4] == ["id", "item", "price", "__partition"]

    run(scenario)


def test_a_new_version_brings_its_columns_in_the_commit_of_its_records() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first = await registered(site, ORDER)
        await site.produce(topic.partitions[0], [record(avro(first, ORDER, {"id": 1, "item": "a", "price": None}))])
        await site.round()
        second = await registered(site, WITH_NOTE)
        mixed = [
            avro(first, ORDER, {"id": 2, "item": "b", "price": 1.5}),
            avro(second, WITH_NOTE, {"id": 3, "item": "c", "price": None, "note": "hello"}),
        ]
        await site.produce(topic.partitions[0], [record(value) for value in mixed])
        await site.round()
        rows = await site.table(topic)
        assert [(row["id"], row.get("note")) for row in rows] == [(1, None), (2, None), (3, "hello")]
        assert (await values(site, topic.partitions[0]))[1:] == mixed

    run(scenario)


def test_what_cannot_be_read_is_set_aside_and_kafka_gets_it_all_the_same() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        id = await registered(site, ORDER)
        good = avro(id, ORDER, {"id": 1, "item": "a", "price": None})
        produced = [good, b"junk", framed(id, b"\x02"), framed(999, b"\x02"), None, good]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        assert [row["__offset"] for row in await site.table(topic)] == [0, 5]
        log = await site.table(topic, "log")
        assert [(row["__offset"], row["__form"]) for row in log] == [(0, 0), (1, 3), (2, 3), (3, 3), (4, 2), (5, 0)]
        set_aside = await site.table(topic, "quarantine")
        assert [row["__offset"] for row in set_aside] == [1, 2, 3]
        assert "schema id" in set_aside[0]["__error"]
        assert "schema 999 is not in the registry" in set_aside[2]["__error"]
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


def test_bytes_under_auto_stay_bytes() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="auto")
        produced = [b"plain text", b"\x00\x01", None]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        assert [row["__value"] for row in await site.table(topic)] == produced
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


def test_json_objects_become_columns_without_being_told() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        produced = [
            json.dumps({"id": n, "name": f"n{n}", "price": n / 4, "ok": n % 2 == 0}).encode() for n in range(40)
        ]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        assert (await site.round()).committed == 1
        rows = await site.table(topic)
        assert [(row["id"], row["name"], row["price"], row["ok"]) for row in rows] == [
            (n, f"n{n}", n / 4, n % 2 == 0) for n in range(40)
        ]
        assert {row["__value"] for row in rows} == {None}
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


def test_json_that_grows_bends_and_breaks() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        first = [b'{"id": 1, "name": "a"}', b'{"id": 2}']
        await site.produce(topic.partitions[0], [record(value) for value in first])
        await site.round()
        later = [
            b'{"id":3,"tags":["x",{"y":null}],"name":"b"}',
            b'{"id": "three", "name": "odd"}',
            b"{broken",
            b'{"id": 1e400}',
            None,
            b'{ "name" : "\\u00e9", "id" : -0 }',
        ]
        await site.produce(topic.partitions[0], [record(value) for value in later])
        await site.round()
        rows = await site.table(topic)
        assert [row["__offset"] for row in rows] == [0, 1, 2, 3, 5, 7]
        assert [row["id"] for row in rows][:4] == [1, 2, 3, None]
        assert rows[2]["tags"] == '["x",{"y":null}]'
        assert rows[3]["__value"] == later[1]
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [4]
        assert await values(site, topic.partitions[0]) == first + later

    run(scenario)


async def asked(site: Site, topic: Topic, request: dict[str, Any]) -> dict[str, int]:
    repair = Repair(id=site.ids.ulid(), topic=topic.id, request=json.dumps(request))
    await site.store.repairs.ask(repair)
    await site.round()
    found = await site.store.repairs.look(repair.id)
    assert found is not None
    assert found.state is RepairState.DONE, found.answer
    answer: dict[str, int] = json.loads(found.answer or "{}")
    return answer


def test_a_schema_that_comes_late_repairs_what_was_set_aside_for_want_of_it() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first = await registered(site, ORDER)
        late = avro(first + 1, WITH_NOTE, {"id": 7, "item": "b", "price": None, "note": "late"})
        produced = [avro(first, ORDER, {"id": 1, "item": "a", "price": None}), late, b"junk"]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [1, 2]
        assert await registered(site, WITH_NOTE) == first + 1
        assert await asked(site, topic, {"action": "retry"}) == {"repaired": 1, "remaining": 1}
        assert [(row["__offset"], row.get("note")) for row in await site.table(topic)] == [(0, None), (1, "late")]
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [2]
        assert [row["__offset"] for row in await site.table(topic, "log")] == [0, 1, 2]
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


def test_a_fix_is_for_the_table_and_a_discarded_record_stays_in_the_log() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        id = await registered(site, ORDER)
        produced = [avro(id, ORDER, {"id": 0, "item": "a", "price": None}), b"one", b"two", b"three"]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        fix = base64.b64encode(avro(id, ORDER, {"id": 1, "item": "mended", "price": 1.0})).decode()
        fixed = await asked(site, topic, {"action": "retry", "chosen": [[0, 1]], "fixes": [[0, 1, fix]]})
        assert fixed == {"repaired": 1, "remaining": 2}
        assert [(row["id"], row["item"]) for row in await site.table(topic)] == [(0, "a"), (1, "mended")]
        errors = {row["__offset"]: row["__error"] for row in await site.table(topic, "quarantine")}
        assert set(errors) == {2, 3}
        assert all(errors.values())
        assert await asked(site, topic, {"action": "discard", "chosen": [[0, 2]]}) == {"repaired": 0, "remaining": 1}
        assert await asked(site, topic, {"action": "discard"}) == {"repaired": 0, "remaining": 0}
        assert await asked(site, topic, {"action": "retry"}) == {"repaired": 0, "remaining": 0}
        assert await values(site, topic.partitions[0]) == produced
        await site.produce(topic.partitions[0], [record(b"four")])
        await site.round()
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [4]

    run(scenario)


def test_values_without_an_id_are_read_by_the_newest_schema_of_the_subject() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro", lakestream_value_schema="latest")
        bare = avro(0, ORDER, {"id": 1, "item": "a", "price": None})[5:]
        await site.produce(topic.partitions[0], [record(bare)])
        await site.round()
        assert [row["__value"] for row in await site.table(topic)] == [bare]  # there is no schema yet
        await registered(site, ORDER)
        later = [avro(0, ORDER, {"id": 2, "item": "b", "price": 0.5})[5:], b"\x02"]
        await site.produce(topic.partitions[0], [record(value) for value in later])
        await site.round()
        rows = await site.table(topic)
        assert [(row["__offset"], row.get("id"), row.get("item")) for row in rows] == [(0, None, None), (1, 2, "b")]
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [2]
        assert await values(site, topic.partitions[0]) == [bare, *later]

    run(scenario)


def test_json_without_an_id_is_read_by_the_newest_json_schema_of_the_subject() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json", lakestream_value_schema="latest")
        schema = (
            '{"type": "object", "properties": {"id": {"type": "integer", "minimum": 5}, "ok": {"type": "boolean"}}}'
        )
        await site.registry.register("orders-value", Submitted(format=SchemaFormat.JSON, text=schema))
        produced = [b'{"id": 7, "ok": true}', b'{"id": "7"}', b'{"id": 1, "more": {"a": 1}}', b"{"]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        rows = await site.table(topic)
        assert [(row["__offset"], row["id"], row["ok"]) for row in rows] == [(0, 7, True), (2, 1, None)]  # types decide
        errors = {row["__offset"]: row["__error"] for row in await site.table(topic, "quarantine")}
        assert errors == {
            1: "field 'id' (byte 7): a string where long is declared",
            3: "byte 1: ends within the object",
        }
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


PROTO = """syntax = "proto3"; package shop;
message Other { int32 x = 1; }
message Order { int64 id = 1; string item = 2; }"""


def test_bare_protobuf_of_a_named_message() -> None:
    async def scenario(site: Site) -> None:
        config = {"format": "protobuf", "schema": "latest", "message": "shop.Order"}
        topic = await site.topic(**{f"lakestream_value_{name}": value for name, value in config.items()})
        await site.registry.register("orders-value", Submitted(format=SchemaFormat.PROTOBUF, text=PROTO))
        produced = [b"\x08\x07\x12\x03abc", b"\x08\x01"]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        rows = await site.table(topic)
        assert [(row["id"], row["item"]) for row in rows] == [(7, "abc"), (1, "")]
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


@pytest.mark.parametrize("format", ["protobuf", "auto"])
def test_the_first_values_say_which_message_of_their_file_they_are(format: str) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format=format)
        submitted = Submitted(format=SchemaFormat.PROTOBUF, text=PROTO)
        id = (await site.registry.register("orders-value", submitted)).schema.id
        order, other = framed(id, b"\x02\x02\x08\x07\x12\x03abc"), framed(id, b"\x00\x08\x05")
        first = [other, order, order, order, order]
        await site.produce(topic.partitions[0], [record(value) for value in first])
        await site.round()
        assert [(row["id"], row["item"]) for row in await site.table(topic)] == [(7, "abc")] * 4
        (set_aside,) = await site.table(topic, "quarantine")
        assert (set_aside["__offset"], set_aside["__value"]) == (0, other)
        assert "shop.Other" in set_aside["__error"]
        moved = PROTO.replace("message Other", "message Between { int32 y = 1; } message Other")
        submitted = Submitted(format=SchemaFormat.PROTOBUF, text=moved)
        later = framed((await site.registry.register("orders-value", submitted)).schema.id, b"\x02\x04\x08\x09")
        await site.produce(topic.partitions[0], [record(later), record(other)])
        await site.round()
        assert [(row["id"], row["item"]) for row in await site.table(topic)][4:] == [(9, "")]
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [0, 6]
        assert await values(site, topic.partitions[0]) == [*first, later, other]

    run(scenario)


def test_text_is_one_column_and_tombstones_are_rows_where_they_are_kept() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="string", lakestream_table_tombstones="keep")
        produced = ["é".encode(), None, b"\xff"]
        await site.produce(topic.partitions[0], [record(value) for value in produced])
        await site.round()
        assert [(row["__offset"], row["value"]) for row in await site.table(topic)] == [(0, "é"), (1, None)]
        assert [row["__offset"] for row in await site.table(topic, "quarantine")] == [2]
        assert await values(site, topic.partitions[0]) == produced

    run(scenario)


async def set_format(site: Site, topic: Topic, format: str) -> None:
    edit = ConfigEdit(ConfigOperation.SET, "lakestream.value.format", format)
    await site.store.edit_topic_config(topic.id, [edit], check_topic_config)


def test_a_topic_that_changes_its_format_keeps_its_columns() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json")
        await site.produce(topic.partitions[0], [record(b'{"a": 1}')])
        await site.round()
        await set_format(site, topic, "raw")
        await site.produce(topic.partitions[0], [record(b'{"a": 2}')])
        await site.round()
        await set_format(site, topic, "json")
        await site.produce(topic.partitions[0], [record(b'{"a": 3, "b": "x"}')])
        await site.round()
        rows = await site.table(topic)
        assert [row.get("a") for row in rows] == [1, None, 3]
        assert rows[1]["__value"] == b'{"a": 2}'
        fields = (await site.metadata(topic))["schemas"][-1]["fields"]
        assert [(field["id"], field["name"]) for field in fields][:2] == [(1, "a"), (2, "b")]
        assert await values(site, topic.partitions[0]) == [b'{"a": 1}', b'{"a": 2}', b'{"a": 3, "b": "x"}']

    run(scenario)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["by the same pipeline", "by another"])
@pytest.mark.parametrize("made", [False, True], ids=["the commit was not made", "the commit was made"])
def test_a_repair_whose_commit_is_not_answered_is_found_out_about_in_the_next_round(
    made: bool, elsewhere: bool
) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first = await registered(site, ORDER)
        late = avro(first + 1, WITH_NOTE, {"id": 7, "item": "b", "price": None, "note": "late"})
        await site.produce(topic.partitions[0], [record(late)])
        clock = Passing()
        pipeline = site.pipeline(clock=clock)
        await site.round(pipeline)
        await registered(site, WITH_NOTE)
        asked = Repair(id=site.ids.ulid(), topic=topic.id, request='{"action": "retry"}')
        await site.store.repairs.ask(asked)
        commit_job = site.store.jobs.commit_job

        async def unanswered(commit: JobCommit) -> str:
            if made:
                await commit_job(commit)
            raise Unavailable("no answer")

        jobs: Any = site.store.jobs
        jobs.commit_job = unanswered
        with pytest.raises(Unavailable):
            await site.round(pipeline)
        jobs.commit_job = commit_job
        clock.passed += SECONDS_FIRST
        if elsewhere:
            site.clock.ahead_ms += 2 * TTL_MS
            await site.pipeline().round(await site.lease("b"))
        else:
            await site.round(pipeline)
        answered = await site.store.repairs.look(asked.id)
        assert answered is not None
        assert json.loads(answered.answer or "") == {"repaired": 1, "remaining": 0}
        assert [row["__offset"] for row in await site.table(topic)] == [0]
        assert await site.files(topic, "quarantine") == []
        assert await site.store.repairs.asked() == []
        data = {key for key in await site.keys("tables/") if key.endswith(".parquet")}
        assert data <= await site.referred(topic)

    run(scenario)

"""Keys with a format become columns beside those of values; their bytes stay what they were."""

from typing import Any

import pytest

from lakestream.contract.registry.administration import SubjectAdministration
from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.contract.topic.following import FollowingTables
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.errors import LakestreamError
from lakestream.model.registry import Compatibility, SchemaFormat
from lakestream.model.topic import Topic
from lakestream.table.metrics import PipelineMetrics
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.site import Row, Site, run
from tests.unit.compaction.test_typed import ORDER, asked, avro, framed, record, registered

CUSTOMER = """{"type": "record", "name": "Customer", "fields": [
    {"name": "id", "type": "int"}, {"name": "country", "type": ["null", "string"]}]}"""
WIDER = """{"type": "record", "name": "Customer", "fields": [
    {"name": "id", "type": "long"}, {"name": "country", "type": ["null", "string"]},
    {"name": "tier", "type": ["null", "string"], "default": null}]}"""
KEYS = "orders-key"

Pairs = list[tuple[bytes | None, bytes | None]]
"""Keys and values."""


async def set_configs(site: Site, topic: Topic, **configs: str) -> None:
    edits = [ConfigEdit(ConfigOperation.SET, name.replace("_", "."), value) for name, value in configs.items()]
    await site.store.edit_topic_config(topic.id, edits, check_topic_config)


async def replayed(site: Site, topic: Topic) -> Pairs:
    return [(row["key"], row["value"]) for row in await site.read(topic.partitions[0])]


async def fields(site: Site, topic: Topic) -> list[str]:
    metadata = await site.metadata(topic)
    (schema,) = [one for one in metadata["schemas"] if one["schema-id"] == metadata["current-schema-id"]]
    return [field["name"] for field in schema["fields"] if not field["name"].startswith("__")]


async def produced_and_tabled(site: Site, topic: Topic, pairs: Pairs) -> list[Row]:
    await site.produce(topic.partitions[0], [record(value, key) for key, value in pairs])
    assert (await site.round()).committed == 1
    return await site.table(topic)


def test_avro_keys_are_a_struct_that_follows_new_versions_and_broken_ones_are_null() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro", lakestream_key_format="avro")
        order, customer = await registered(site, ORDER), await registered(site, CUSTOMER, KEYS)
        value = avro(order, ORDER, {"id": 1, "item": "a", "price": None})
        pairs: Pairs = [
            (avro(customer, CUSTOMER, {"id": 7, "country": None}), value),
            (None, value),
            (b"no key of ours", value),
            (framed(customer, b""), value),
        ]
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row["key"] for row in rows] == [{"id": 7, "country": None}, None, None, None]
        assert [row["__key"] for row in rows] == [key for key, _ in pairs]
        assert [row["__form"] for row in rows] == [0] * 4
        wider = await registered(site, WIDER, KEYS)
        later: Pairs = [
            (avro(wider, WIDER, {"id": 1 << 40, "country": "nl", "tier": "gold"}), value),
            (avro(customer, CUSTOMER, {"id": 8, "country": "be"}), None),
        ]
        rows = await produced_and_tabled(site, topic, later)
        assert rows[4]["key"] == {"id": 1 << 40, "country": "nl", "tier": "gold"}
        tombstone = (await site.table(topic, "log"))[5]
        assert (tombstone["__form"], tombstone["key"]) == (2, {"id": 8, "country": "be", "tier": None})
        assert await fields(site, topic) == ["id", "item", "price", "key"]
        assert await replayed(site, topic) == pairs + later

    run(scenario)


def test_text_keys_are_one_column_beside_json_that_has_a_field_of_that_name() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_key_format="string")
        pairs: Pairs = [
            ("é".encode(), b'{"key": 1, "record": "r", "value": true}'),
            (b"\xff", b'{"key": 2}'),
            (b"", b"{broken"),
            (None, b'{"key": 3}'),
        ]
        await produced_and_tabled(site, topic, pairs)
        log = await site.table(topic, "log")
        assert [(row["key"], row["key_2"]) for row in log] == [("é", 1), (None, 2), ("", None), (None, 3)]
        assert await fields(site, topic) == ["key_2", "record", "value", "key"]
        (set_aside,) = await site.table(topic, "quarantine")
        assert (set_aside["key"], set_aside["__value"]) == ("", b"{broken")
        assert await replayed(site, topic) == pairs

    run(scenario)


def test_values_may_stay_bytes_while_keys_become_columns() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="raw", lakestream_key_format="json")
        pairs: Pairs = [
            (b'{"id": 1, "shop": "a"}', b"one"),
            (b'{"id": 2}', None),
            (b"[]", b"three"),
        ]
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row["key"] for row in rows] == [{"id": 1, "shop": "a"}, {"id": 2, "shop": None}, None]
        assert [row["__value"] for row in rows] == [b"one", None, b"three"]  # a tombstone of a raw topic is a row
        later: Pairs = [(b'{"id": 3, "more": 1.5}', b"four")]
        rows = await produced_and_tabled(site, topic, later)
        assert rows[3]["key"] == {"id": 3, "shop": None, "more": 1.5}
        assert await fields(site, topic) == ["key"]
        assert await replayed(site, topic) == pairs + later

    run(scenario)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([b'{"id": 1}', b'{"id": 2}', None], [{"id": 1}, {"id": 2}, None]),
        ([b"text", b"more", None], [None, None, None]),
        ([b"\0\0\0\0\x63x", b"\0\0\0\0\x63y", None], [None, None, None]),
    ],
    ids=["objects", "anything", "zeros by chance"],
)
def test_keys_that_nobody_told_of_are_what_the_first_ones_look_like(
    keys: list[bytes | None], expected: list[Any]
) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="raw", lakestream_key_format="auto")
        pairs: Pairs = [(key, b"v") for key in keys]
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row.get("key") for row in rows] == expected
        assert await replayed(site, topic) == pairs

    run(scenario)


def test_framed_keys_under_auto_while_all_values_are_tombstones() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_key_format="auto")
        customer = await registered(site, CUSTOMER, KEYS)
        key = avro(customer, CUSTOMER, {"id": 7, "country": None})
        rows = await produced_and_tabled(site, topic, [(key, None), (key, None)])
        assert [row["key"] for row in rows] == [{"id": 7, "country": None}] * 2
        rows = await produced_and_tabled(site, topic, [(key, b'{"a": 1}')])  # values are still told by the first
        assert rows[2]["a"] == 1
        assert await replayed(site, topic) == [(key, None), (key, None), (key, b'{"a": 1}')]

    run(scenario)


def test_a_format_for_keys_of_a_living_topic_adds_the_column_and_leaves_values_alone() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        first: Pairs = [(b"k1", b'{"a": 1}')]
        await produced_and_tabled(site, topic, first)
        await set_configs(site, topic, lakestream_key_format="string")
        # A new decision by these would be bytes: values were told by the first records, and stay that.
        second: Pairs = [(b"k2", b"junk"), (b"k3", b"junk"), (b"k4", b'{"a": 4}')]
        rows = await produced_and_tabled(site, topic, second)
        assert [(row["__offset"], row["a"], row.get("key")) for row in rows] == [(0, 1, None), (3, 4, "k4")]
        assert [row["key"] for row in await site.table(topic, "quarantine")] == ["k2", "k3"]
        await set_configs(site, topic, lakestream_key_format="raw")
        third: Pairs = [(b"k5", b'{"a": 5}')]
        rows = await produced_and_tabled(site, topic, third)
        assert rows[2].get("key") is None
        assert await fields(site, topic) == ["a", "key"]
        assert await replayed(site, topic) == first + second + third

    run(scenario)


def test_keys_without_an_id_are_read_by_the_newest_schema_of_their_subject() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(
            lakestream_value_format="raw",
            lakestream_key_format="avro",
            lakestream_key_schema="latest",
            lakestream_key_subject="numbers",
        )
        pairs: Pairs = [(b"\x0e", b"v"), (b"\x80", b"w")]
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row.get("key") for row in rows] == [None, None]  # there is no schema yet
        await registered(site, '"long"', "numbers")
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row["key"] for row in rows[2:]] == [7, None]
        assert await replayed(site, topic) == pairs * 2

    run(scenario)


@pytest.mark.parametrize("config", [{"lakestream_key_message": "shop.Id"}, {}], ids=["named", "by what keys say"])
def test_protobuf_keys_of_one_of_several_messages(config: dict[str, str]) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic("orders", 1, lakestream_value_format="raw", lakestream_key_format="protobuf", **config)
        proto = 'syntax = "proto3"; package shop; message Other { int32 x = 1; } message Id { int64 id = 1; }'
        submitted = Submitted(format=SchemaFormat.PROTOBUF, text=proto)
        id = (await site.registry.register(KEYS, submitted)).schema.id
        pairs: Pairs = [(framed(id, b"\x02\x02\x08\x07"), b"v")]
        rows = await produced_and_tabled(site, topic, pairs)
        assert [row["key"] for row in rows] == [{"id": 7}]
        assert await replayed(site, topic) == pairs

    run(scenario)


def test_a_column_of_keys_that_was_something_else_stays_that_and_holds_nobody_up() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="raw", lakestream_key_format="avro")
        number = await registered(site, '"long"', KEYS)
        await produced_and_tabled(site, topic, [(framed(number, b"\x0e"), b"v")])
        await set_configs(site, topic, lakestream_key_format="string")
        rows = await produced_and_tabled(site, topic, [(b"text", b"w")])
        assert [row["key"] for row in rows] == [7, None]
        await set_configs(site, topic, lakestream_key_format="json")
        rows = await produced_and_tabled(site, topic, [(b'{"id": 1}', b"x")])
        assert rows[2]["key_2"] == {"id": 1}
        assert await fields(site, topic) == ["key", "key_2"]

    run(scenario)


def test_a_retried_record_keeps_its_key_and_so_does_one_that_stays_set_aside() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro", lakestream_key_format="string")
        id = await registered(site, ORDER)
        late = avro(id + 1, ORDER.replace("Order", "Late"), {"id": 1, "item": "a", "price": None})
        await produced_and_tabled(
            site, topic, [(b"k0", avro(id, ORDER, {"id": 0, "item": "a", "price": None})), (b"k1", late), (b"k2", b"?")]
        )
        await registered(site, ORDER.replace("Order", "Late"), "elsewhere")
        assert await asked(site, topic, {"action": "retry", "chosen": [[0, 1]]}) == {"repaired": 1, "remaining": 1}
        assert [(row["__offset"], row["key"]) for row in await site.table(topic)] == [(0, "k0"), (1, "k1")]
        assert [(row["__offset"], row["key"]) for row in await site.table(topic, "quarantine")] == [(2, "k2")]

    run(scenario)


def test_unreadable_keys_are_counted() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="raw", lakestream_key_format="string")
        metrics = PipelineMetrics()
        pairs = [(b"\xff", b"v"), (b"ok", b"v"), (None, b"v"), (b"\xfe", None)]
        await site.produce(topic.partitions[0], [record(value, key) for key, value in pairs])
        await site.round(site.pipeline(metrics=metrics))
        assert metrics.registry.get_sample_value("lakestream_table_unread_keys_total") == 2

    run(scenario)


JSON_KEYS = '{"type": ["%s", "object"], "properties": {"value": {"type": "%s"}}}'


@pytest.mark.parametrize(
    ("format", "old", "new", "why"),
    [
        (
            SchemaFormat.AVRO,
            CUSTOMER,
            CUSTOMER.replace('"int"', '"string"'),
            r"column 'id' is int and cannot become string.* keys",
        ),
        (
            SchemaFormat.JSON,
            '{"type": "string"}',
            '{"type": "integer"}',
            r"column 'key' is string and cannot become long",
        ),
        (
            SchemaFormat.JSON,
            JSON_KEYS % ("string", "boolean"),
            JSON_KEYS % ("string", "string"),
            r"column 'key\.value' is boolean and cannot become string",
        ),
    ],
)
def test_a_schema_of_keys_that_the_table_cannot_follow_is_refused_when_it_is_registered(
    format: SchemaFormat, old: str, new: str, why: str
) -> None:
    async def scenario(site: Site) -> None:
        own = {"lakestream_key_format": format.value.lower(), "lakestream_key_schema": "id"}
        await site.topic(lakestream_value_format="raw", **own)
        await site.registry.register(KEYS, Submitted(format=format, text=old))
        registry = Registry(
            store=site.store.registry,
            threads=InlineThreads(),
            followers=FollowingTables(store=site.store, threads=InlineThreads()),
        )
        await SubjectAdministration(site.store.registry).set_compatibility(KEYS, Compatibility.NONE, None)
        with pytest.raises(LakestreamError, match=why):
            await registry.register(KEYS, Submitted(format=format, text=new))

    run(scenario)

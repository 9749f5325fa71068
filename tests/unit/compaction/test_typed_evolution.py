"""Schemas that change, or go, under a topic that lives: the table follows in the commit of the records, by field id."""

import pytest

from tests.unit.compaction.site import Site, run
from tests.unit.compaction.test_typed import ORDER, WITH_NOTE, avro, record, registered, values

ITEM_V1 = """{"type": "record", "name": "Item", "fields": [
    {"name": "id", "type": "int"}, {"name": "label", "type": "string"}, {"name": "old", "type": "boolean"}]}"""
ITEM_V2 = """{"type": "record", "name": "Item", "doc": "Reordered, renamed, widened, added, dropped", "fields": [
    {"name": "title", "aliases": ["label"], "type": ["null", "string"], "doc": "What it is called"},
    {"name": "price", "type": "double", "default": 0},
    {"name": "id", "type": "long"}]}"""


def test_a_version_that_renames_reorders_widens_adds_and_drops_is_followed_by_field_id() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first = await registered(site, ITEM_V1)
        before = [avro(first, ITEM_V1, {"id": n, "label": f"l{n}", "old": True}) for n in range(3)]
        await site.produce(topic.partitions[0], [record(value) for value in before])
        await site.round()
        ids = {field["name"]: field["id"] for field in (await site.metadata(topic))["schemas"][-1]["fields"]}
        second = await registered(site, ITEM_V2)
        mixed = [
            avro(second, ITEM_V2, {"id": 1 << 40, "title": "t", "price": 2.5}),
            avro(first, ITEM_V1, {"id": 9, "label": "late", "old": False}),
            avro(second, ITEM_V2, {"id": 4, "title": None, "price": 0.0}),
        ]
        await site.produce(topic.partitions[0], [record(value) for value in mixed])
        await site.round()
        rows = await site.table(topic)
        assert [(row["id"], row.get("title") or row.get("label"), row["old"], row.get("price")) for row in rows] == [
            *((n, f"l{n}", True, None) for n in range(3)),
            (1 << 40, "t", None, 2.5),
            (9, "late", False, None),
            (4, None, None, 0.0),
        ]
        fields = {field["name"]: field for field in (await site.metadata(topic))["schemas"][-1]["fields"]}
        assert [fields[name]["id"] for name in ("id", "title", "old")] == [ids["id"], ids["label"], ids["old"]]
        assert (fields["id"]["type"], fields["title"]["doc"], "label" in fields) == ("long", "What it is called", False)
        assert not any(field["required"] for name, field in fields.items() if not name.startswith("__"))
        assert await values(site, topic.partitions[0]) == [*before, *mixed]

    run(scenario)


@pytest.mark.parametrize("permanent", [False, True])
def test_a_subject_that_is_deleted_under_its_topic_loses_nothing(permanent: bool) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first, second = await registered(site, ORDER), await registered(site, WITH_NOTE)
        known = avro(first, ORDER, {"id": 1, "item": "a", "price": None})
        unseen = avro(second, WITH_NOTE, {"id": 2, "item": "b", "price": None, "note": "n"})
        await site.produce(topic.partitions[0], [record(known)])
        await site.round()
        await site.store.registry.delete_subject("orders-value", permanent=False)
        if permanent:
            await site.store.registry.delete_subject("orders-value", permanent=True)
        await site.produce(topic.partitions[0], [record(known), record(unseen)])
        await site.round()
        rows = [(row["__offset"], row["id"]) for row in await site.table(topic)]
        assert rows == ([(0, 1), (1, 1)] if permanent else [(0, 1), (1, 1), (2, 2)])
        if permanent:
            (aside,) = await site.table(topic, "quarantine")
            assert (aside["__offset"], aside["__error"]) == (2, f"schema {second} is not in the registry")
        assert await values(site, topic.partitions[0]) == [known, known, unseen]

    run(scenario)

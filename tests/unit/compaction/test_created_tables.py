"""A gateway that dies within a CREATE TABLE: the topic and its table are both there or neither is."""

from typing import Any

import pytest

from lakestream.administration.sql_first.sql_topics import SqlTopics
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.model.table import STREAMS
from lakestream.model.table_errors import TableExists
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site, run

REQUEST = {
    "name": "sales",
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]},
    "properties": {"lakestream.value.format": "avro", "lakestream.partitions": "2"},
}


def gateway(site: Site, fate: Fate) -> TableCatalog:
    store: Any = MortalVerbs(site.store.tables, fate)
    objects = TableObjects(MortalObjects(site.objects, fate))
    return TableCatalog(
        store=store,
        objects=objects,
        files=MetadataFiles(objects, ids=site.ids),
        clock=site.clock,
        ids=site.ids,
        delete_topic=site.store.delete_topic,
        topic_planner=SqlTopics(site.registry, RegisteredWriters(site.store.registry, InlineThreads())),
    )


async def both_or_neither(site: Site) -> bool:
    topics = [topic for topic in (await site.store.topics()).topics if topic.name == "sales"]
    pointer = await site.store.tables.table(STREAMS, "sales")
    assert (pointer is not None) == bool(topics)
    if pointer is not None:
        assert pointer.topic == topics[0].id
        assert len(topics[0].partitions) == 2
    return pointer is not None


def test_a_gateway_killed_at_any_step_of_a_creation_leaves_a_topic_with_its_table_or_nothing() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        await site.store.tables.create_namespace(STREAMS, {})
        await gateway(site, fate).create(STREAMS, REQUEST)
        assert await both_or_neither(site)

    run(whole)
    assert {"put avro", "move_tables"} <= set(fate.calls)
    outcomes = set()
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                await site.store.tables.create_namespace(STREAMS, {})
                with pytest.raises(BaseException) as died:
                    await gateway(site, Fate(at=at, after=after)).create(STREAMS, REQUEST)
                assert "Killed" in repr(died.value)
                made = await both_or_neither(site)
                outcomes.add(made)
                again = gateway(site, Fate())
                if made:
                    with pytest.raises(TableExists):
                        await again.create(STREAMS, REQUEST)
                else:
                    await again.create(STREAMS, REQUEST)
                assert await both_or_neither(site)

            run(killed)
    assert outcomes == {True, False}

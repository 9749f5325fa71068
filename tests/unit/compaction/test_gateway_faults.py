"""A gateway that dies within a stranger's commit: the table is as it was or as it was to be, and nothing stays."""

from typing import Any

import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import TableChange
from lakestream.model.table import STREAMS
from lakestream.model.topic import Topic
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site, rows, run

CHANGE = TableChange(
    namespace=STREAMS,
    name="orders",
    requirements=[],
    updates=[{"action": "set-properties", "updates": {"write.metadata.previous-versions-max": "1", "by": "stranger"}}],
)


def gateway(site: Site, fate: Fate) -> TableCatalog:
    """The catalog as a process reaches its stores."""
    store: Any = MortalVerbs(site.store.tables, fate)
    objects = TableObjects(MortalObjects(site.objects, fate))
    return TableCatalog(
        store=store,
        objects=objects,
        files=MetadataFiles(objects, ids=site.ids),
        clock=site.clock,
        ids=site.ids,
        delete_topic=site.store.delete_topic,
    )


async def prepared(site: Site) -> Topic:
    topic = await site.topic()
    for base in (0, 10):
        await site.produce(topic.partitions[0], rows(10, base=base))
        await site.round()
    return topic


def test_a_gateway_killed_at_any_step_of_a_commit_leaves_the_table_whole_and_nothing_behind() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        topic = await prepared(site)
        await gateway(site, fate).commit([CHANGE])
        assert (await site.metadata(topic))["properties"]["by"] == "stranger"
        assert await site.keys("tables/") == await site.referred(topic)

    run(whole)
    assert {"put json", "move_tables", "delete"} <= set(fate.calls)

    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await prepared(site)
                with pytest.raises(BaseException) as died:
                    await gateway(site, Fate(at=at, after=after)).commit([CHANGE])
                assert "Killed" in repr(died.value)
                await site.produce(topic.partitions[0], rows(10, base=20))
                pipeline = site.pipeline()
                assert (await site.round(pipeline)).committed == 1
                await pipeline.sweep()
                assert [row["__offset"] for row in await site.table(topic)] == list(range(30))
                assert len(await site.read(topic.partitions[0])) == 30
                assert await site.keys("tables/") == await site.referred(topic)

            run(killed)

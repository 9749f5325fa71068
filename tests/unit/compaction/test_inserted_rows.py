"""A gateway that dies within an INSERT: the rows are in the table and in the log, or in neither."""

from typing import Any

import pyarrow as pa
import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.spec.requests import TableChange
from lakestream.model.table import STREAMS
from lakestream.model.table_errors import Guarded, InvalidTableChange
from lakestream.model.topic import Topic
from tests.unit.compaction.breaking import Fate
from tests.unit.compaction.inserting import gateway, insert_into, numbers
from tests.unit.compaction.site import Site, run

REQUEST = {
    "name": "sales",
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "n", "required": False, "type": "long"}]},
}
WITHOUT_ID = pa.schema([pa.field("n", pa.int64())])
TEXTS = pa.table({"n": ["1", "2"]}, schema=pa.schema([pa.field("n", pa.string(), metadata={"PARQUET:field_id": "1"})]))
"""Somebody else's field 1."""


async def created(site: Site) -> Topic:
    await site.store.tables.create_namespace(STREAMS, {})
    await gateway(site, Fate()).create(STREAMS, REQUEST)
    (topic,) = (await site.store.topics()).topics
    return topic


async def insert_of(site: Site, topic: Topic, *tables: pa.Table, **how: Any) -> TableChange:
    pointer = await site.pointer(topic)
    return await insert_into(site, STREAMS, pointer.name, *tables, **how)


async def records(site: Site, topic: Topic) -> list[bytes | None]:
    return [row["value"] for row in await site.read(topic.partitions[0])]


async def files_on(site: Site, topic: Topic) -> tuple[set[str], set[str]]:
    return set(await site.files(topic, "main")), set(await site.files(topic, "log"))


def test_a_gateway_killed_at_any_step_of_an_insert_leaves_all_of_it_or_nothing() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        topic = await created(site)
        await gateway(site, fate).commit([await insert_of(site, topic, numbers(1, 2))])
        assert await records(site, topic) == [b'{"n":1}', b'{"n":2}']
        main, log = await files_on(site, topic)
        assert main == log and len(main) == 1

    run(whole)
    assert "move_tables" in fate.calls
    outcomes = set()
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await created(site)
                change = await insert_of(site, topic, numbers(1, 2))
                with pytest.raises(BaseException) as died:
                    await gateway(site, Fate(at=at, after=after)).commit([change])
                assert "Killed" in repr(died.value)
                found = await records(site, topic)
                main, log = await files_on(site, topic)
                assert main == log and len(main) == len(found) // 2
                outcomes.add(len(found))
                await gateway(site, Fate()).commit([await insert_of(site, topic, numbers(3))])
                assert (await records(site, topic)) == [*found, b'{"n":3}']

            run(killed)
    assert outcomes == {0, 2}


def test_a_repeated_commit_appends_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        change = await insert_of(site, topic, numbers(1))
        await gateway(site, Fate()).commit([change])
        with pytest.raises(Exception, match="main"):
            await gateway(site, Fate()).commit([change])
        assert await records(site, topic) == [b'{"n":1}']

    run(scenario)


def test_files_that_cannot_be_records_are_refused() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        elsewhere = TableObjects(site.objects).table_location("elsewhere")
        for file, how, error, reason in (
            (numbers(1, 2, schema=WITHOUT_ID), {}, InvalidTableChange, "without field ids"),
            (numbers(1, 2), {"rows": 5}, InvalidTableChange, "2 rows, and 5 by its manifest"),
            (numbers(1, 2), {"folder": elsewhere}, Guarded, "outside of the table's own folder"),
            (TEXTS, {}, InvalidTableChange, "field id 1, is string in the file, and long"),
        ):
            with pytest.raises(error, match=reason):
                await gateway(site, Fate()).commit([await insert_of(site, topic, file, **how)])
        assert await records(site, topic) == []

    run(scenario)

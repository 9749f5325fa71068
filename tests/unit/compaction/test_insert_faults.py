"""INSERT beside others: two writers, a merge, a deletion; and files of unusual number, size and content."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from lakestream.catalog.spec.requests import Once
from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.model.errors import UnknownTopicId
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, STREAMS, TableKind
from lakestream.model.table_errors import AnsweredBefore, CommitConflict
from lakestream.model.topic import Topic
from lakestream.table.compaction.task import RewriteTask, TaskResult
from tests.unit.compaction.breaking import Fate
from tests.unit.compaction.inserting import gateway, insert_into, numbers
from tests.unit.compaction.site import InThisProcess, Site, rows, run

NUMBER: Json = {"id": 1, "name": "n", "required": False, "type": "long"}
MANY_FILES = 2_000


async def created(site: Site, *fields: Json, **properties: str) -> Topic:
    await site.store.tables.create_namespace(STREAMS, {})
    schema = {"type": "struct", "fields": list(fields or (NUMBER,))}
    await gateway(site, Fate()).create(STREAMS, {"name": "sales", "schema": schema, "properties": properties})
    (topic,) = (await site.store.topics()).topics
    return topic


async def insert(site: Site, *tables: pa.Table) -> None:
    await gateway(site, Fate()).commit([await insert_into(site, STREAMS, "sales", *tables)])


async def produce(site: Site, topic: Topic, number: int) -> None:
    await site.produce(topic.partitions[0], [rows(1)[0] | {"value": b'{"n":%d}' % number}])


async def values(site: Site, topic: Topic) -> list[Any]:
    return [json.loads(row["value"]) for partition in topic.partitions for row in await site.read(partition)]


async def found(site: Site, topic: Topic) -> list[int]:
    return [one["n"] for one in await values(site, topic)]


def test_of_two_writers_at_once_one_wins_and_the_other_tries_again() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        changes = [await insert_into(site, STREAMS, "sales", numbers(number)) for number in (1, 2)]
        done = await asyncio.gather(
            *(gateway(site, Fate()).commit([change]) for change in changes), return_exceptions=True
        )
        assert sorted(isinstance(one, CommitConflict) for one in done) == [False, True]
        (winner,) = await found(site, topic)
        await insert(site, numbers(3 - winner))
        assert await found(site, topic) == [winner, 3 - winner]
        assert await site.files(topic, MAIN_BRANCH) == await site.files(topic, LOG_BRANCH)

    run(scenario)


def test_a_request_that_arrives_twice_at_once_appends_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        change = await insert_into(site, STREAMS, "sales", numbers(1))
        once = Once(key="k", request="r")
        done = await asyncio.gather(
            *(gateway(site, Fate()).commit([change], once=once) for _ in range(2)), return_exceptions=True
        )
        assert sorted(isinstance(one, AnsweredBefore) for one in done) == [False, True]
        assert await found(site, topic) == [1]

    run(scenario)


class InsertsMeanwhile(InThisProcess):
    """An engine inserts while files are being rewritten, or merged."""

    site: Site
    inserts = 0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await super().rewrite(tasks)
        if not tasks[0].is_probe:
            self.inserts += 1
            await insert(self.site, numbers(-self.inserts))
        return results


def test_rows_inserted_during_rounds_and_merges_are_records_once_and_in_their_place() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        rewriter = InsertsMeanwhile(site.objects)
        rewriter.site = site
        pipeline = site.pipeline(rewriter=rewriter, merge_limits=MergeLimits(files_min=2))
        order: list[int] = []
        for number in range(6):
            await produce(site, topic, number)
            await site.round(pipeline)
            order = await found(site, topic)
        await pipeline.merge(await site.lease())
        after = await found(site, topic)
        assert after[: len(order)] == order
        assert sorted(after) == sorted([*range(6), *range(-rewriter.inserts, 0)])
        await site.round()
        assert await found(site, topic) == after
        main, log = await site.files(topic, MAIN_BRANCH), await site.files(topic, LOG_BRANCH)
        assert sorted(main) == sorted(log)
        assert set(await site.places(topic.partitions[0])) == {"F"}

    run(scenario)


def test_an_insert_whose_topic_is_deleted_meanwhile_is_refused_and_its_rows_are_in_no_table() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        change = await insert_into(site, STREAMS, "sales", numbers(1))
        catalog = gateway(site, Fate())
        move_tables = site.store.tables.move_tables

        async def deleted_first(*moves: Any, **more: Any) -> None:
            site.store.tables.move_tables = move_tables  # type: ignore[method-assign]
            await site.store.delete_topic(topic.id)
            await move_tables(*moves, **more)

        site.store.tables.move_tables = deleted_first  # type: ignore[method-assign]
        with pytest.raises(UnknownTopicId):
            await catalog.commit([change])
        assert (await site.pointer(topic)).kind is TableKind.KEPT
        assert await site.files(topic, MAIN_BRANCH) == []

    run(scenario)


def test_files_without_rows_take_no_offsets() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        await insert(site, numbers(), numbers(1), numbers())
        await insert(site, numbers())
        await produce(site, topic, 2)
        await site.round()
        assert await found(site, topic) == [1, 2]
        assert (await site.view(topic.partitions[0])).tail.next_offset == 2

    run(scenario)


def test_thousands_of_files_of_one_commit_are_records_each() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, **{"lakestream.partitions": "4"})
        await insert(site, *[numbers(7)] * MANY_FILES)
        ends = [(await site.view(partition)).tail.next_offset for partition in topic.partitions]
        assert ends == [MANY_FILES // 4] * 4
        (first,) = [row for row in await site.read(topic.partitions[0]) if row["offset"] == MANY_FILES // 4 - 1]
        assert first["value"] == b'{"n":7}'

    run(scenario)


def test_nested_values_and_nulls_at_every_level_are_in_the_records() -> None:
    parts = [{"id": 3, "name": "x", "required": False, "type": "double"}, NUMBER | {"id": 4, "name": "y"}]
    place = {"id": 2, "name": "place", "required": False, "type": {"type": "struct", "fields": parts}}
    texts = {"type": "list", "element-id": 6, "element-required": False, "element": "string"}
    tags = {"id": 5, "name": "tags", "required": False, "type": texts}

    given: list[dict[str, Any]] = [
        {"place": {"x": 0.5, "y": None}, "tags": ["a", None, ""]},
        {"place": None, "tags": []},
        {"place": {"x": None, "y": None}, "tags": None},
    ]

    async def scenario(site: Site) -> None:
        topic = await created(site, place, tags)
        ids = (await site.metadata(topic))["schemas"][0]["fields"]
        file = pa.Table.from_pylist(given, schema=arrow_schema(columns_of(ids)))
        await insert(site, file, file.slice(0, 0))
        assert await values(site, topic) == given

    run(scenario)

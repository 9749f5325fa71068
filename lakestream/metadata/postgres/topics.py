"""Topics and their partitions. Every change raises topics_version, which is how brokers notice.

Changes begin by updating the cluster row, so that they follow one another.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from lakestream.metadata.postgres.asking import all_rows, maybe_row, one_row
from lakestream.metadata.postgres.dropping import release_spans_of
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.missing import too_few_partitions, topic_exists, unknown_topic_id
from lakestream.metadata.store import TopicsView
from lakestream.metadata.table_store import NOWHERE
from lakestream.model.configs.edit import ConfigEdit, apply_config_edits
from lakestream.model.configs.topic_config import drops_its_table
from lakestream.model.table import TableKind
from lakestream.model.topic import Topic, TopicId, TopicSpec


async def topics(connection: Connection) -> TopicsView:
    """One statement, so one moment. Without topics there is one row, of the version alone."""
    rows = await all_rows(
        connection,
        "SELECT topics_version, topic.id, name, config, created_ms,"
        " ARRAY(SELECT partition.id FROM partition WHERE topic_id = topic.id ORDER BY number)"
        ' FROM cluster LEFT JOIN topic ON true ORDER BY name COLLATE "C"',
    )
    found = tuple(
        Topic(id=id, name=name, partitions=tuple(partitions), config=json.loads(config), created_ms=created_ms)
        for _, id, name, config, created_ms, partitions in rows
        if id is not None
    )
    return TopicsView(rows[0][0], found)


async def topics_version(connection: Connection) -> int:
    (version,) = await one_row(connection, "SELECT topics_version FROM cluster")
    return int(version)


async def create_topic(connection: Connection, spec: TopicSpec) -> Topic:
    if spec.partitions < 1:
        raise too_few_partitions(0, spec.partitions)
    async with connection.transaction():
        await _raise_version(connection)
        inserted = await connection.execute(
            "INSERT INTO topic VALUES (%s, %s, %s, now_ms()) ON CONFLICT DO NOTHING",
            (spec.id, spec.name, json.dumps(dict(spec.config))),
        )
        if inserted.rowcount == 0:
            raise topic_exists(spec.name)
        await _insert_partitions(connection, spec.id, first_number=0, count=spec.partitions)
        return await _topic(connection, spec.id)


async def delete_topic(connection: Connection, topic: TopicId) -> None:
    async with connection.transaction():
        await _raise_version(connection)
        deleted = await maybe_row(connection, "DELETE FROM topic WHERE id = %s RETURNING config", (topic,))
        if deleted is None:
            raise unknown_topic_id(topic)
        rows = await all_rows(
            connection, "SELECT id FROM partition WHERE topic_id = %s ORDER BY id FOR UPDATE", (topic,)
        )
        partitions = [row[0] for row in rows]
        await connection.execute("DELETE FROM partition WHERE id = ANY (%s)", (partitions,))
        await connection.execute("DELETE FROM producer WHERE partition_id = ANY (%s)", (partitions,))
        await release_spans_of(connection, partitions)
        await connection.execute("DELETE FROM compaction_ask WHERE topic_id = %s", (topic,))
        await connection.execute("DELETE FROM group_offset WHERE topic_id = %s", (topic,))
        await _let_go_of_table(connection, topic, drop=drops_its_table(json.loads(deleted[0])))


async def _let_go_of_table(connection: Connection, topic: TopicId, *, drop: bool) -> None:
    """The table outlives its topic, or loses its name and goes as well."""
    if drop:
        await connection.execute(
            "UPDATE lake_table SET kind = %s, topic_id = NULL, namespace = %s, name = id, changed_ms = now_ms()"
            " WHERE topic_id = %s",
            (TableKind.DROPPED.value, NOWHERE, topic),
        )
    else:
        await connection.execute(
            "UPDATE lake_table SET kind = %s, topic_id = NULL, changed_ms = now_ms() WHERE topic_id = %s",
            (TableKind.KEPT.value, topic),
        )


async def add_partitions(connection: Connection, topic: TopicId, total: int) -> Topic:
    async with connection.transaction():
        await _raise_version(connection)
        now = await _topic(connection, topic)
        count = len(now.partitions)
        if total <= count:
            raise too_few_partitions(count, total)
        await _insert_partitions(connection, topic, first_number=count, count=total - count)
        return await _topic(connection, topic)


async def edit_topic_config(
    connection: Connection,
    topic: TopicId,
    edits: Sequence[ConfigEdit],
    check: Callable[[Mapping[str, str]], None],
) -> Topic:
    async with connection.transaction():
        await _raise_version(connection)
        now = await _topic(connection, topic)
        edited = apply_config_edits(now.config, edits)
        check(edited)
        await connection.execute("UPDATE topic SET config = %s WHERE id = %s", (json.dumps(edited), topic))
        return await _topic(connection, topic)


async def _raise_version(connection: Connection) -> None:
    await connection.execute("UPDATE cluster SET topics_version = topics_version + 1")


async def _insert_partitions(connection: Connection, topic: TopicId, *, first_number: int, count: int) -> None:
    (after_last_id,) = await one_row(
        connection,
        "UPDATE cluster SET next_partition_id = next_partition_id + %s RETURNING next_partition_id",
        (count,),
    )
    await connection.execute(
        "INSERT INTO partition SELECT %s + i, %s, %s + i, 0, 0, 0, -1 FROM generate_series(0, %s - 1) AS i",
        (after_last_id - count, topic, first_number, count),
    )


async def _topic(connection: Connection, topic: TopicId) -> Topic:
    row = await maybe_row(
        connection,
        "SELECT name, config, created_ms, ARRAY(SELECT id FROM partition WHERE topic_id = topic.id ORDER BY number)"
        " FROM topic WHERE id = %s",
        (topic,),
    )
    if row is None:
        raise unknown_topic_id(topic)
    name, config, created_ms, partitions = row
    return Topic(id=topic, name=name, partitions=tuple(partitions), config=json.loads(config), created_ms=created_ms)

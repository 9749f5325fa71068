"""Topics and their partitions. Every change raises topics_version, which is how brokers notice."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from lakestream.metadata.rules.missing import too_few_partitions, topic_exists, unknown_topic_id
from lakestream.metadata.sqlite.dropping import release_spans_of
from lakestream.metadata.store import TopicsView
from lakestream.metadata.table_store import NOWHERE
from lakestream.model.configs.edit import ConfigEdit, apply_config_edits
from lakestream.model.configs.topic_config import drops_its_table
from lakestream.model.table import TableKind
from lakestream.model.topic import PartitionId, Topic, TopicId, TopicSpec


def topics(connection: sqlite3.Connection) -> TopicsView:
    partitions: dict[TopicId, list[PartitionId]] = {}
    for topic_id, partition_id in connection.execute("SELECT topic_id, id FROM partition ORDER BY topic_id, number"):
        partitions.setdefault(topic_id, []).append(partition_id)
    rows = connection.execute("SELECT id, name, config, created_ms FROM topic ORDER BY name")
    found = tuple(
        Topic(id=id, name=name, partitions=tuple(partitions[id]), config=json.loads(config), created_ms=created_ms)
        for id, name, config, created_ms in rows
    )
    return TopicsView(topics_version(connection), found)


def topics_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("SELECT topics_version FROM cluster").fetchone()[0]
    return version


def create_topic(connection: sqlite3.Connection, spec: TopicSpec, now_ms: int) -> Topic:
    if spec.partitions < 1:
        raise too_few_partitions(0, spec.partitions)
    taken = connection.execute("SELECT 1 FROM topic WHERE name = ? OR id = ?", (spec.name, spec.id)).fetchone()
    if taken is not None:
        raise topic_exists(spec.name)
    connection.execute(
        "INSERT INTO topic VALUES (?, ?, ?, ?)", (spec.id, spec.name, json.dumps(dict(spec.config)), now_ms)
    )
    _insert_partitions(connection, spec.id, first_number=0, count=spec.partitions)
    return _changed(connection, spec.id)


def delete_topic(connection: sqlite3.Connection, topic: TopicId, now_ms: int) -> None:
    row = connection.execute("SELECT config FROM topic WHERE id = ?", (topic,)).fetchone()
    if row is None:
        raise unknown_topic_id(topic)
    partitions = [id for (id,) in connection.execute("SELECT id FROM partition WHERE topic_id = ?", (topic,))]
    for partition in partitions:
        release_spans_of(connection, partition, now_ms)
        connection.execute("DELETE FROM producer WHERE partition_id = ?", (partition,))
    connection.execute("DELETE FROM partition WHERE topic_id = ?", (topic,))
    connection.execute("DELETE FROM topic WHERE id = ?", (topic,))
    connection.execute("DELETE FROM compaction_ask WHERE topic_id = ?", (topic,))
    connection.execute("DELETE FROM group_offset WHERE topic_id = ?", (topic,))
    _let_go_of_table(connection, topic, drop=drops_its_table(json.loads(row[0])), now_ms=now_ms)
    _raise_version(connection)


def _let_go_of_table(connection: sqlite3.Connection, topic: TopicId, *, drop: bool, now_ms: int) -> None:
    """The table outlives its topic, or loses its name and goes as well."""
    if drop:
        connection.execute(
            "UPDATE lake_table SET kind = ?, topic_id = NULL, namespace = ?, name = id, changed_ms = ?"
            " WHERE topic_id = ?",
            (TableKind.DROPPED.value, NOWHERE, now_ms, topic),
        )
    else:
        connection.execute(
            "UPDATE lake_table SET kind = ?, topic_id = NULL, changed_ms = ? WHERE topic_id = ?",
            (TableKind.KEPT.value, now_ms, topic),
        )


def add_partitions(connection: sqlite3.Connection, topic: TopicId, total: int) -> Topic:
    _require(connection, topic)
    (count,) = connection.execute("SELECT count(*) FROM partition WHERE topic_id = ?", (topic,)).fetchone()
    if total <= count:
        raise too_few_partitions(count, total)
    _insert_partitions(connection, topic, first_number=count, count=total - count)
    return _changed(connection, topic)


def edit_topic_config(
    connection: sqlite3.Connection,
    topic: TopicId,
    edits: Sequence[ConfigEdit],
    check: Callable[[Mapping[str, str]], None],
) -> Topic:
    row = connection.execute("SELECT config FROM topic WHERE id = ?", (topic,)).fetchone()
    if row is None:
        raise unknown_topic_id(topic)
    edited = apply_config_edits(json.loads(row[0]), edits)
    check(edited)
    connection.execute("UPDATE topic SET config = ? WHERE id = ?", (json.dumps(edited), topic))
    return _changed(connection, topic)


def _require(connection: sqlite3.Connection, topic: TopicId) -> None:
    if connection.execute("SELECT 1 FROM topic WHERE id = ?", (topic,)).fetchone() is None:
        raise unknown_topic_id(topic)


def _insert_partitions(connection: sqlite3.Connection, topic: TopicId, *, first_number: int, count: int) -> None:
    (first_id,) = connection.execute("SELECT next_partition_id FROM cluster").fetchone()
    connection.execute("UPDATE cluster SET next_partition_id = next_partition_id + ?", (count,))
    connection.executemany(
        "INSERT INTO partition (id, topic_id, number, log_start, next_offset, bytes, running_max_timestamp_ms)"
        " VALUES (?, ?, ?, 0, 0, 0, -1)",
        [(first_id + i, topic, first_number + i) for i in range(count)],
    )


def _changed(connection: sqlite3.Connection, topic: TopicId) -> Topic:
    _raise_version(connection)
    name, config, created_ms = connection.execute(
        "SELECT name, config, created_ms FROM topic WHERE id = ?", (topic,)
    ).fetchone()
    partitions = connection.execute("SELECT id FROM partition WHERE topic_id = ? ORDER BY number", (topic,))
    return Topic(
        id=topic,
        name=name,
        partitions=tuple(row[0] for row in partitions),
        config=json.loads(config),
        created_ms=created_ms,
    )


def _raise_version(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE cluster SET topics_version = topics_version + 1")

"""The verbs of topics and partitions. Every change raises topics_version, which is how brokers notice.

Every change begins by updating the cluster's row, so that changes run one after another.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from lakestream.metadata.rules.missing import too_few_partitions, topic_exists, unknown_topic_id
from lakestream.metadata.store import TopicsView
from lakestream.metadata.table_store import NOWHERE
from lakestream.metadata.verbs.dropping import release_spans_of
from lakestream.metadata.verbs.running import Verbs, reads, transacts
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, maybe_row, one_row
from lakestream.model.configs.edit import ConfigEdit, apply_config_edits
from lakestream.model.configs.topic_config import drops_its_table
from lakestream.model.table import TableKind
from lakestream.model.topic import Topic, TopicId, TopicSpec

_TOPIC = (
    "topic.id, name, config, created_ms,"
    " array_to_json(ARRAY(SELECT id FROM partition WHERE topic_id = topic.id ORDER BY number))::text"
)


class TopicVerbs(Verbs):
    @reads
    def topics(self) -> Steps[TopicsView]:
        """One statement, so one moment. Without topics there is one row, with the version alone."""
        rows = yield from all_rows(
            f'SELECT topics_version, {_TOPIC} FROM cluster LEFT JOIN topic ON true ORDER BY name COLLATE "C"'
        )
        return TopicsView(rows[0][0], tuple(_topic_of(*topic) for _, *topic in rows if topic[0] is not None))

    @reads
    def topics_version(self) -> Steps[int]:
        (version,) = yield from one_row("SELECT topics_version FROM cluster")
        return int(version)

    @transacts
    def create_topic(self, spec: TopicSpec) -> Steps[Topic]:
        yield from insert_topic(spec)
        return (yield from _topic(spec.id))

    @transacts
    def delete_topic(self, topic: TopicId) -> Steps[None]:
        yield from _raise_version()
        deleted = yield from maybe_row("DELETE FROM topic WHERE id = :topic RETURNING config", topic=topic)
        if deleted is None:
            raise unknown_topic_id(topic)
        rows = yield from all_rows(
            "SELECT id FROM partition WHERE topic_id = :topic ORDER BY id FOR UPDATE", topic=topic
        )
        partitions = [row[0] for row in rows]
        yield from changed("DELETE FROM partition WHERE id = ANY (:partitions)", partitions=partitions)
        yield from changed("DELETE FROM producer WHERE partition_id = ANY (:partitions)", partitions=partitions)
        yield from release_spans_of(partitions)
        yield from changed("DELETE FROM compaction_ask WHERE topic_id = :topic", topic=topic)
        yield from changed("DELETE FROM group_offset WHERE topic_id = :topic", topic=topic)
        yield from changed("DELETE FROM share_partition WHERE topic_id = :topic", topic=topic)
        yield from _let_go_of_table(topic, drop=drops_its_table(json.loads(deleted[0])))

    @transacts
    def add_partitions(self, topic: TopicId, total: int) -> Steps[Topic]:
        yield from _raise_version()
        count = len((yield from _topic(topic)).partitions)
        if total <= count:
            raise too_few_partitions(count, total)
        yield from _insert_partitions(topic, first_number=count, count=total - count)
        return (yield from _topic(topic))

    @transacts
    def edit_topic_config(
        self, topic: TopicId, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> Steps[Topic]:
        yield from _raise_version()
        now = yield from _topic(topic)
        edited = apply_config_edits(now.config, edits)
        check(edited)
        yield from changed(
            "UPDATE topic SET config = :config WHERE id = :topic", config=json.dumps(edited), topic=topic
        )
        return (yield from _topic(topic))


def insert_topic(spec: TopicSpec) -> Steps[None]:
    """Raises TopicExists."""
    if spec.partitions < 1:
        raise too_few_partitions(0, spec.partitions)
    yield from _raise_version()
    inserted = yield from changed(
        "INSERT INTO topic VALUES (:id, :name, :config, now_ms()) ON CONFLICT DO NOTHING",
        id=spec.id,
        name=spec.name,
        config=json.dumps(dict(spec.config)),
    )
    if inserted == 0:
        raise topic_exists(spec.name)
    yield from _insert_partitions(spec.id, first_number=0, count=spec.partitions)


def _raise_version() -> Steps[None]:
    yield from changed("UPDATE cluster SET topics_version = topics_version + 1")


def _insert_partitions(topic: TopicId, *, first_number: int, count: int) -> Steps[None]:
    (after_last_id,) = yield from one_row(
        "UPDATE cluster SET next_partition_id = next_partition_id + :count RETURNING next_partition_id", count=count
    )
    yield from changed(
        "INSERT INTO partition (id, topic_id, number, log_start, next_offset, bytes, running_max_timestamp_ms)"
        " SELECT :first_id + i, :topic, :first_number + i, 0, 0, 0, -1 FROM unnest(:new::bigint[]) AS new (i)",
        first_id=after_last_id - count,
        topic=topic,
        first_number=first_number,
        new=list(range(count)),
    )


def _topic(topic: TopicId) -> Steps[Topic]:
    row = yield from maybe_row(f"SELECT {_TOPIC} FROM topic WHERE id = :topic", topic=topic)
    if row is None:
        raise unknown_topic_id(topic)
    return _topic_of(*row)


def _topic_of(id: TopicId, name: str, config: str, created_ms: int, partitions: str) -> Topic:
    return Topic(
        id=id,
        name=name,
        partitions=tuple(json.loads(partitions)),
        config=json.loads(config),
        created_ms=created_ms,
    )


def _let_go_of_table(topic: TopicId, *, drop: bool) -> Steps[None]:
    """Keep the table beyond its topic, or drop it too and free its name."""
    if drop:
        yield from changed(
            "UPDATE lake_table SET kind = :kind, topic_id = NULL, namespace = :nowhere, name = id,"
            " changed_ms = now_ms() WHERE topic_id = :topic",
            kind=TableKind.DROPPED.value,
            nowhere=NOWHERE,
            topic=topic,
        )
    else:
        yield from changed(
            "UPDATE lake_table SET kind = :kind, topic_id = NULL, changed_ms = now_ms() WHERE topic_id = :topic",
            kind=TableKind.KEPT.value,
            topic=topic,
        )

"""Creates a table for every topic soon after it: raw columns, branches `log` and `main`, an empty first snapshot."""

from contextlib import suppress

import structlog

from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.catalog.topic.topic_table import TOPIC_ID, TOPIC_NAME, TopicTableSpec, table_name
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import table_namespace
from lakestream.model.errors import Conflict, UnknownTopicId
from lakestream.model.table import STREAMS, Namespace, TableKind
from lakestream.model.table_errors import NamespaceExists, TableExists
from lakestream.model.topic import Topic
from lakestream.storage.tablefile.format.columns import LAST_COLUMN_ID, iceberg_fields

log = structlog.get_logger(__name__)

KEPT_SUFFIX = "_kept"
"""Behind the name of a kept table that steps aside."""
_KEPT = (TableKind.KEPT,)
_KEPT_AMONG_STREAMS = (TableKind.KEPT, TableKind.ORDINARY)
"""Tables that are created among the streams are topics: an ordinary one was kept, and its grace is over."""


class TopicTables:
    def __init__(self, store: MetadataStore, commits: TopicCommits) -> None:
        self._store = store
        self._commits = commits
        self._complete_at: int | None = None

    async def make_missing(self) -> None:
        """Create a table for every topic that has none, and move tables whose configured place has changed. Costs one
        small read while no topic was created, changed or deleted."""
        version = await self._store.topics_version()
        if version == self._complete_at:
            return
        missing = frozenset(await self._store.jobs.topics_without_table())
        topics = (await self._store.topics()).topics
        for topic in topics:
            if topic.id in missing:
                await self._make(topic)
            elif (wanted := table_namespace(topic.config)) is not None:
                await self._move(topic, wanted)
        self._complete_at = version

    async def _make(self, topic: Topic) -> None:
        namespace = table_namespace(topic.config) or STREAMS
        await self._step_aside(namespace, table_name(topic.name, ()))
        name = table_name(topic.name, await self._names_in(namespace))
        prepared = await self._commits.create(
            topic.id,
            namespace,
            name,
            TopicTableSpec(
                fields=iceberg_fields(),
                last_column_id=LAST_COLUMN_ID,
                properties={TOPIC_NAME: topic.name, TOPIC_ID: topic.id.hex()},
            ),
        )
        try:
            await self._store.tables.move_tables([prepared.move])
        except TableExists:
            # Another pipeline made it, or someone took the name in the meantime.
            await self._commits.abandon(prepared)
            if await self._store.tables.table_of_topic(topic.id) is None:
                raise
            return
        except UnknownTopicId:
            await self._commits.abandon(prepared)  # its topic was deleted meanwhile: nobody would remove it
            return
        except Conflict:
            await self._commits.abandon(prepared)
            raise
        log.info("table made", topic=topic.name, table=f"{'.'.join(namespace)}.{name}")

    async def _step_aside(self, namespace: Namespace, name: str) -> None:
        """Rename the kept table of a deleted topic that has this name, so that a living topic can have it."""
        taken = await self._names_in(namespace)
        old = await self._store.tables.table(namespace, name)
        if old is None or old.kind not in (_KEPT_AMONG_STREAMS if namespace == STREAMS else _KEPT):
            return
        aside = table_name(f"{name}{KEPT_SUFFIX}", taken)
        await self._store.tables.rename_table(old.id, namespace, aside)
        log.warning("kept table steps aside for a new topic", table=f"{'.'.join(namespace)}.{name}", new_name=aside)

    async def _move(self, topic: Topic, namespace: Namespace) -> None:
        """Move the table to the namespace in the topic's config, if it is elsewhere."""
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None or pointer.namespace == namespace:
            return
        name = table_name(pointer.name, await self._names_in(namespace))
        await self._store.tables.rename_table(pointer.id, namespace, name)
        log.info("table moved", topic=topic.name, table=f"{'.'.join(namespace)}.{name}")

    async def _names_in(self, namespace: Namespace) -> set[str]:
        """The names in use there, in lower case. Creates the namespace if needed."""
        for levels in range(1, len(namespace) + 1):
            with suppress(NamespaceExists):
                await self._store.tables.create_namespace(namespace[:levels], {})
        return {found.name.lower() for found in await self._store.tables.tables(namespace)}

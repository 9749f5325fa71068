"""A table for every topic, made soon after it: raw columns, branches `log` and `main`, an empty first snapshot."""

from collections.abc import Collection
from contextlib import suppress

import structlog

from lakestream.catalog.topic_commits import TopicCommits
from lakestream.catalog.topic_table import table_name
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Conflict
from lakestream.model.table import STREAMS
from lakestream.model.table_errors import NamespaceExists, TableExists
from lakestream.model.topic import Topic
from lakestream.storage.tablefile.columns import LAST_COLUMN_ID, iceberg_fields

log = structlog.get_logger(__name__)

TOPIC_NAME = "lakestream.topic"
TOPIC_ID = "lakestream.topic-id"
"""Table properties: which topic this is. Guarded like all that begin so."""


class TopicTables:
    def __init__(self, store: MetadataStore, commits: TopicCommits) -> None:
        self._store = store
        self._commits = commits
        self._complete_at: int | None = None

    async def make_missing(self) -> None:
        """Give a table to every topic that has none. Costs one small read while no topic was made or deleted."""
        version = await self._store.topics_version()
        if version == self._complete_at:
            return
        missing = frozenset(await self._store.jobs.topics_without_table())
        if missing:
            await self._make([topic for topic in (await self._store.topics()).topics if topic.id in missing])
        self._complete_at = version

    async def _make(self, topics: Collection[Topic]) -> None:
        with suppress(NamespaceExists):
            await self._store.tables.create_namespace(STREAMS, {})
        taken = {name.lower() for name, _ in await self._store.tables.tables(STREAMS)}
        for topic in topics:
            name = table_name(topic.name, taken)
            taken.add(name)
            await self._make_one(topic, name)

    async def _make_one(self, topic: Topic, name: str) -> None:
        prepared = await self._commits.create(
            topic.id,
            STREAMS,
            name,
            iceberg_fields(),
            last_column_id=LAST_COLUMN_ID,
            properties={TOPIC_NAME: topic.name, TOPIC_ID: topic.id.hex()},
        )
        try:
            await self._store.tables.move_tables([prepared.move])
        except TableExists:
            # Another pipeline made it, or someone took the name since it was looked for.
            await self._commits.abandon(prepared)
            if await self._store.tables.table_of_topic(topic.id) is None:
                raise
            return
        except Conflict:
            await self._commits.abandon(prepared)
            raise
        log.info("table made", topic=topic.name, table=f"{'.'.join(STREAMS)}.{name}")

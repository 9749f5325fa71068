"""Find table files that the log needs and the object store does not have.

    index: files in which records lie  -  a listing of the table's folder  ->  missing, if the index still names them

The check makes one listing for each table, and no request for each file. A listing covers all files, so the check runs
only on request, not at every status.
"""

import asyncio
from collections.abc import Sequence

from lakestream.catalog.files.locations import TableObjects
from lakestream.metadata.store import MetadataStore
from lakestream.model.topic import Topic, TopicId

LISTINGS_AT_ONCE = 8
SHOWN_MAX = 100
"""Most files shown of each topic. An operator who has lost more needs a backup, not a longer list."""


class MissingFiles:
    def __init__(self, store: MetadataStore, locations: TableObjects) -> None:
        self._store = store
        self._locations = locations

    async def of_topics(self, topics: Sequence[Topic]) -> dict[TopicId, tuple[str, ...]]:
        """Missing locations by topic. Every topic has an entry."""
        places = asyncio.Semaphore(LISTINGS_AT_ONCE)

        async def one(topic: Topic) -> tuple[str, ...]:
            async with places:
                return await self._of_topic(topic.id)

        found = await asyncio.gather(*map(one, topics))
        return {topic.id: missing for topic, missing in zip(topics, found, strict=True)}

    async def _of_topic(self, topic: TopicId) -> tuple[str, ...]:
        needed = await self._store.jobs.living_files(topic)
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None or not needed:
            return ()
        missing = needed.difference(await self._locations.list_below(self._locations.log_folder(pointer.id)))
        if missing:  # the log may have released them since the first read
            missing &= await self._store.jobs.living_files(topic)
        return tuple(sorted(missing)[:SHOWN_MAX])

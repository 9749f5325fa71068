"""Metadata files, manifests and manifest lists that no table refers to: left by commits that crashed, they go.

    a few topics at a time -> list what commits wrote -> read the table's pointer -> delete what can never be needed

Topics take turns, so that a look costs the same however many there are; one whose table has not moved since it was last
looked at costs nothing. What a commit under way has written is never touched: commit_names.py says how it is told.
"""

import structlog

from lakestream.catalog.locations import TableObjects
from lakestream.catalog.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import TopicId

log = structlog.get_logger(__name__)

TOPICS_AT_ONCE = 20
"""A table has some hundred manifest lists at most; most of them are in memory."""


class LeftCommits:
    def __init__(self, store: MetadataStore, locations: TableObjects, commits: TopicCommits) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._turns: list[TopicId] = []
        """Topics that are still to be looked at before all of them have their turn again."""
        self._seen: dict[TopicId, str] = {}
        """Where each topic's table was when it was last looked at."""

    async def sweep(self) -> None:
        """Look at the topics whose turn it is."""
        if not self._turns:
            self._turns = [topic.id for topic in (await self._store.topics()).topics]
            self._seen = {topic: at for topic, at in self._seen.items() if topic in set(self._turns)}
        for topic in self._turns[:TOPICS_AT_ONCE]:
            try:
                await self._look_at(topic)
            except LakestreamError as error:
                # What is wrong with one table is said by `status` and `verify`; the others have their turn.
                log.warning("leftovers of a table could not be looked for", topic=topic.hex(), error=str(error))
        self._turns = self._turns[TOPICS_AT_ONCE:]

    async def _look_at(self, topic: TopicId) -> None:
        if (pointer := await self._store.tables.table_of_topic(topic)) is None:
            return
        if self._seen.get(topic) == pointer.metadata_location:
            return
        # Listed first: what is committed meanwhile is then found to be referred to.
        listed = await self._locations.list_below(self._locations.commits_folder(pointer.id))
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None:
            return
        leftovers = await self._commits.leftovers(listed, pointer)
        if leftovers:
            log.info("files of commits that were never made are deleted", table=pointer.id, files=len(leftovers))
            await self._locations.delete(leftovers)
        self._seen[topic] = pointer.metadata_location

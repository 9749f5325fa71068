"""Metadata files, manifests and manifest lists that no table refers to: left by commits that crashed, they go.

    a few topics at a time -> list what commits wrote -> read the table's pointer -> delete what can never be needed
                           -> what waits for a commit past the grace -> the table passes that version, and it goes too

Topics take turns, so that a look costs the same however many there are; one whose table has not moved since it was last
looked at costs nothing. What a commit under way has written is never touched: commit_names.py says how it is told. An
idle table may have such objects for long: what was rolled ahead for a commit that does not come, or what a gateway that
was killed had written. Age alone would not do, since their writer may only be asleep; after the version was passed, it
finds that someone else was faster.
"""

from collections.abc import Mapping

import structlog

from lakestream.catalog.commit_names import is_awaiting, version_of
from lakestream.catalog.locations import TableObjects
from lakestream.catalog.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Conflict, LakestreamError
from lakestream.model.table import TablePointer
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

TOPICS_AT_ONCE = 20
"""A table has some hundred manifest lists at most; most of them are in memory."""


class LeftCommits:
    def __init__(
        self, store: MetadataStore, locations: TableObjects, commits: TopicCommits, clock: Clock, *, grace_ms: int
    ) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._clock = clock
        self._grace_ms = grace_ms
        self._turns: list[TopicId] = []
        """Topics that are still to be looked at before all of them have their turn again."""
        self._seen: dict[TopicId, str] = {}
        """Where each topic's table was when it was last looked at and had nothing that waits."""

    async def sweep(self) -> None:
        """Look at the topics whose turn it is."""
        if not self._turns:
            self._turns = [topic.id for topic in (await self._store.topics()).topics]
            self._seen = {topic: at for topic, at in self._seen.items() if topic in set(self._turns)}
        looked_at = 0
        while self._turns and looked_at < TOPICS_AT_ONCE:
            topic = self._turns.pop(0)
            try:
                looked_at += await self._look_at(topic)
            except LakestreamError as error:
                # What is wrong with one table is said by `status` and `verify`; the others have their turn.
                log.warning("leftovers of a table could not be looked for", topic=topic.hex(), error=str(error))
                looked_at += 1

    async def _look_at(self, topic: TopicId) -> bool:
        """False: there was no need to."""
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None or self._seen.get(topic) == pointer.metadata_location:
            return False
        # Listed first: what is committed meanwhile is then found to be referred to.
        listed = await self._locations.written_below(self._locations.commits_folder(pointer.id))
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None:
            return True
        await self._clear(listed, pointer)
        version = version_of(pointer.metadata_location)
        awaiting = [written_ms for location, written_ms in listed.items() if is_awaiting(location, version)]
        if not awaiting:
            self._seen[topic] = pointer.metadata_location
        elif max(awaiting) <= self._clock.wall_ms() - self._grace_ms:
            await self._pass_version(listed, pointer)
        return True

    async def _clear(self, listed: Mapping[str, int], pointer: TablePointer) -> None:
        leftovers = await self._commits.leftovers(list(listed), pointer)
        if leftovers:
            log.info("files of commits that were never made are deleted", table=pointer.id, files=len(leftovers))
            await self._locations.delete(leftovers)

    async def _pass_version(self, listed: Mapping[str, int], pointer: TablePointer) -> None:
        prepared = await self._commits.pass_version(pointer)
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)  # someone has committed: the next look begins from there
            return
        await self._commits.finish(prepared)
        await self._clear(listed, prepared.move.pointer)

"""Data files and ledgers that no snapshot reaches any more, and that nobody deleted: left by a crash, they go.

    files of committed jobs, a day old -> not reached by any snapshot of their table -> deleted

Expiry deletes what it frees once the table has moved on, and a worker that was given up may write after its job was
committed; where the process dies in between, this finds it. Every table is looked at, once a day if it has changed: it
takes a listing, and reading all of its manifests. Files of the last day's jobs are left alone: a job may be under way.
"""

import structlog

from lakestream.catalog.locations import TableObjects
from lakestream.catalog.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock
from lakestream.world.ids import is_ulid, ulid_ms

log = structlog.get_logger(__name__)

DAY_SECONDS = 86_400.0
TOPICS_AT_ONCE = 5


class LeftFiles:
    def __init__(self, store: MetadataStore, locations: TableObjects, commits: TopicCommits, clock: Clock) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._clock = clock
        self._looked_at: dict[TopicId, float] = {}
        self._settled: dict[TopicId, str] = {}
        """Where tables were when all of their jobs were old enough to be looked at: until they move, nothing is new."""

    async def sweep(self) -> None:
        """Look at some of the tables whose turn it is."""
        now = self._clock.monotonic()
        topics = [topic.id for topic in (await self._store.topics()).topics]
        self._looked_at = {topic: self._looked_at[topic] for topic in topics if topic in self._looked_at}
        self._settled = {topic: self._settled[topic] for topic in topics if topic in self._settled}
        due = [topic for topic in topics if now - self._looked_at.get(topic, -DAY_SECONDS) >= DAY_SECONDS]
        for topic in due[:TOPICS_AT_ONCE]:
            self._looked_at[topic] = now
            try:
                await self._look_at(topic)
            except LakestreamError as error:
                log.warning("files that a table left could not be looked for", topic=topic.hex(), error=str(error))

    async def _look_at(self, topic: TopicId) -> None:
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None or self._settled.get(topic) == pointer.metadata_location:
            return
        # Listed first: what is committed meanwhile is then found to be referred to.
        folder = self._locations.log_folder(pointer.id)
        before_ms = self._clock.wall_ms() - int(DAY_SECONDS * 1000)
        there = [
            (location, job)
            for location in await self._locations.list_below(folder)
            if is_ulid(job := location.removeprefix(f"{folder}/").partition("/")[0])
        ]
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None:
            return
        listed = [location for location, job in there if ulid_ms(job) < before_ms]
        if left := await self._commits.unreached(listed, pointer) if listed else []:
            log.info("files that no snapshot reaches are deleted", table=pointer.id, files=len(left))
            await self._locations.delete(left)
        if len(listed) == len(there):
            self._settled[topic] = pointer.metadata_location

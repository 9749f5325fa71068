"""The topic directory: all topics by name and id, read from the store whenever their version changes.

The directory may be out of date for a moment. So it never reports "unknown" by itself: a miss reads the store first.
The commit or the view detects a topic that was deleted meanwhile.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import TopicConfig, typed_topic_config
from lakestream.model.errors import LakestreamError, UnknownPartition, UnknownTopic
from lakestream.model.topic import PartitionId, Topic, TopicId
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

FOLLOW_SECONDS = 0.1
"""Changes closer together than this share one read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEntry:
    """A topic with its config in typed form."""

    topic: Topic
    config: TopicConfig

    def partition(self, index: int) -> PartitionId:
        if not 0 <= index < len(self.topic.partitions):
            raise UnknownPartition(f"topic '{self.topic.name}' has no partition {index}")
        return self.topic.partitions[index]


class Directory:
    def __init__(self, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._alarm = asyncio.Event()
        self._version = -1
        self._by_name: dict[str, TopicEntry] = {}
        self._by_id: dict[TopicId, TopicEntry] = {}
        self._reading = asyncio.Lock()

    @property
    def version(self) -> int:
        return self._version

    def known(self, name: str) -> TopicEntry | None:
        return self._by_name.get(name)

    def known_id(self, topic: TopicId) -> TopicEntry | None:
        return self._by_id.get(topic)

    def all(self) -> Iterable[TopicEntry]:
        return self._by_name.values()

    async def find(self, name: str) -> TopicEntry:
        """Asks the store before it raises UnknownTopic."""
        entry = self._by_name.get(name)
        if entry is None:
            await self.refresh()
            entry = self._by_name.get(name)
        if entry is None:
            raise UnknownTopic(f"there is no topic '{name}'; `lakestream topic list` shows those that exist")
        return entry

    def follow(self) -> None:
        """Keep up with the changes of other brokers."""
        self._store.on_change(self._alarm.set)
        self._tasks.spawn(self._follow(), name="directory")

    async def refresh(self) -> None:
        """Read all topics again if their version has changed."""
        async with self._reading:
            if await self._store.topics_version() == self._version:
                return
            view = await self._store.topics()
            kept = self._by_id
            entries = [_entry(topic, kept.get(topic.id)) for topic in view.topics]
            self._by_name = {entry.topic.name: entry for entry in entries}
            self._by_id = {entry.topic.id: entry for entry in entries}
            self._version = view.version

    async def _follow(self) -> None:
        while True:
            await self._alarm.wait()
            await self._clock.sleep(FOLLOW_SECONDS)
            self._alarm.clear()
            try:
                await self.refresh()
            except LakestreamError as error:
                log.warning("topics could not be read; trying again at the next change", error=str(error))


def _entry(topic: Topic, before: TopicEntry | None) -> TopicEntry:
    if before is not None and before.topic == topic:
        return before
    return TopicEntry(topic=topic, config=typed_topic_config(topic.config))

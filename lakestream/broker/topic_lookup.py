"""Topics as requests name them: by name in older versions, by id in newer ones.

The directory may be a moment behind the store, so nobody is told "unknown" from it: a miss reads the store first. A
request does that once, however many unknown names it holds.
"""

from collections.abc import Iterable

from lakestream.broker.directory import Directory, TopicEntry
from lakestream.model.errors import UnknownTopic, UnknownTopicId
from lakestream.model.topic import PartitionId, TopicId

NO_TOPIC_ID = bytes(16)
"""On the wire: no id was given, or there is none."""


class TopicLookup:
    """The lookups of one request, one after another."""

    __slots__ = ("_by_id", "_directory", "_is_fresh")

    def __init__(self, directory: Directory, *, by_id: bool = False) -> None:
        """`by_id`: the request's version has ids alone, so that none is an id too, and unknown."""
        self._directory = directory
        self._by_id = by_id
        self._is_fresh = False

    def known(self, name: str | None, topic_id: TopicId = NO_TOPIC_ID) -> TopicEntry | None:
        """The topic, if it is known without asking anyone. An id goes before a name."""
        return self._directory.known(name or "") if topic_id == NO_TOPIC_ID else self._directory.known_id(topic_id)

    async def topic(self, name: str | None, topic_id: TopicId = NO_TOPIC_ID) -> TopicEntry:
        """Raises UnknownTopic or UnknownTopicId."""
        entry = self.known(name, topic_id)
        if entry is None and await self._refreshed():
            entry = self.known(name, topic_id)
        if entry is not None:
            return entry
        if topic_id == NO_TOPIC_ID and not self._by_id:
            raise UnknownTopic(f"there is no topic '{name}'; `lakestream topic list` shows those that exist")
        raise UnknownTopicId(f"there is no topic with id {topic_id.hex()}; it may have been deleted")

    async def partition(self, name: str | None, topic_id: TopicId, index: int) -> tuple[TopicEntry, PartitionId]:
        """Also one that another broker added a moment ago. Raises UnknownPartition too."""
        entry = await self.topic(name, topic_id)
        if not 0 <= index < len(entry.topic.partitions) and await self._refreshed():
            entry = await self.topic(name, topic_id)
        return entry, entry.partition(index)

    async def learn(self, topics: Iterable[TopicId]) -> None:
        """That all of these are known, if they are there: also one that another broker created a moment ago."""
        if any(self._directory.known_id(topic) is None for topic in topics):
            await self._refreshed()

    async def _refreshed(self) -> bool:
        """Was the store asked just now? False: it had been before."""
        if self._is_fresh:
            return False
        await self._directory.refresh()
        self._is_fresh = True
        return True

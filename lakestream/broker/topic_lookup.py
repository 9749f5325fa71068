"""Looks up the topics of a request: by name in older versions, by id in newer ones.

The directory may be a moment behind the store, so it never reports "unknown" by itself: a miss reads the store first. A
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
        """`by_id`: the request's version has only ids, so a missing id is an unknown id."""
        self._directory = directory
        self._by_id = by_id
        self._is_fresh = False

    def known(self, name: str | None, topic_id: TopicId = NO_TOPIC_ID) -> TopicEntry | None:
        """The topic, if the directory knows it without asking the store. An id takes precedence over a name."""
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
        """Finds partitions too that another broker added a moment ago. Also raises UnknownPartition."""
        entry = await self.topic(name, topic_id)
        if not 0 <= index < len(entry.topic.partitions) and await self._refreshed():
            entry = await self.topic(name, topic_id)
        return entry, entry.partition(index)

    async def learn(self, topics: Iterable[TopicId]) -> None:
        """Make sure that all existing topics among these are known, even if another broker created one a moment ago."""
        if any(self._directory.known_id(topic) is None for topic in topics):
            await self._refreshed()

    async def _refreshed(self) -> bool:
        """Refresh from the store. Returns False if this request has done so before."""
        if self._is_fresh:
            return False
        await self._directory.refresh()
        self._is_fresh = True
        return True

"""Count the bytes of each topic that lie both in the WAL and in its table."""

import math
from collections.abc import Mapping

from lakestream.metadata.store import MetadataStore
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

TOLD_AGAIN_SECONDS = 60.0
"""How long a figure is reused. The store reads every commit of the last hours for it, and it changes by the hour."""


class TableCopies:
    def __init__(self, store: MetadataStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._found: Mapping[TopicId, int] = {}
        self._found_at = -math.inf

    async def bytes_in_wal_too(self) -> dict[str, int]:
        """Bytes by topic name. The figures are up to a minute old."""
        now = self._clock.monotonic()
        if now - self._found_at >= TOLD_AGAIN_SECONDS:
            self._found, self._found_at = await self._store.wal_copies(), now
        names = {topic.id: topic.name for topic in (await self._store.topics()).topics} if self._found else {}
        return {names[id]: size for id, size in self._found.items() if id in names}

"""Requests to merge a topic's files now (`lakestream maintain`): which wait, and what was done for each.

asked (gateway) -> merged, go by go -> nothing is left: done, with counts | a merge failed: failed, with why
"""

import json
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from lakestream.metadata.store import MetadataStore
from lakestream.model.repair import Repair, RepairId, RepairState
from lakestream.model.topic import TopicId


@dataclass(slots=True)
class MergeCounts:
    files: int = 0
    """Files that were merged."""
    into: int = 0
    """Files that they became."""
    bytes: int = 0


class MergeRequests:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._waiting: list[Repair] = []
        self._done: dict[RepairId, MergeCounts] = {}
        self._failures: dict[TopicId, str] = {}

    async def read(self) -> frozenset[TopicId]:
        """The topics for which someone waits."""
        self._waiting = [one for one in await self._store.repairs.asked() if one.merges_files]
        topics = frozenset(one.topic for one in self._waiting)
        self._done = {one.id: self._done.get(one.id, MergeCounts()) for one in self._waiting}
        self._failures = {topic: why for topic, why in self._failures.items() if topic in topics}
        return topics

    def merged(self, topic: TopicId, *, files: int, into: int, bytes: int) -> None:
        for one in self._waiting:
            if one.topic == topic:
                counts = self._done[one.id]
                self._done[one.id] = MergeCounts(counts.files + files, counts.into + into, counts.bytes + bytes)

    def failed(self, topic: TopicId, reason: str) -> None:
        if any(one.topic == topic for one in self._waiting):
            self._failures[topic] = reason

    async def answer(self, busy: AbstractSet[TopicId]) -> None:
        """Answer the requests whose merge has failed, and those for topics that are not `busy` any more."""
        for one in self._waiting:
            if (reason := self._failures.get(one.topic)) is not None:
                await self._store.repairs.answer(one.id, RepairState.FAILED, reason)
            elif one.topic not in busy:
                await self._store.repairs.answer(one.id, RepairState.DONE, json.dumps(asdict(self._done[one.id])))

"""The WAL at rest: its size, the part of it that also lies elsewhere, and segments that should have been deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakestream.metadata.store import MetadataStore
from lakestream.model.place import SegmentId
from lakestream.model.topic import PartitionId, Topic

OVERDUE_AFTER_MS = 300_000
"""Brokers look for garbage every half minute. A segment that is past its grace by this much more was overlooked."""
OVERDUE_SHOWN_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WalStatus:
    bytes: int
    bytes_over_one_copy: int
    inline_bytes: int
    """Further bytes that lie in the metadata store, and in no object yet."""
    grace_ms: int
    overdue_segments: tuple[SegmentId, ...]
    """Segments that are past their grace and still exist."""


class WalAtRest:
    def __init__(self, store: MetadataStore, *, grace_ms: int) -> None:
        self._store = store
        self._grace_ms = grace_ms

    async def status(self) -> WalStatus:
        size = await self._store.wal_size()
        overdue = await self._store.deletable_segments(self._grace_ms + OVERDUE_AFTER_MS, OVERDUE_SHOWN_MAX)
        return WalStatus(
            bytes=size.bytes,
            bytes_over_one_copy=max(0, size.bytes - size.needed_bytes),
            inline_bytes=size.inline_bytes,
            grace_ms=self._grace_ms,
            overdue_segments=tuple(overdue),
        )

    async def starts(self, topics: Sequence[Topic]) -> dict[PartitionId, int]:
        """The first offset of each partition in the WAL. Partitions without records there are absent."""
        partitions = [partition for topic in topics for partition in topic.partitions]
        spans = await self._store.jobs.untabled_spans(partitions, 1)
        return {partition: first[0].span.base_offset for partition, first in spans.items() if first}

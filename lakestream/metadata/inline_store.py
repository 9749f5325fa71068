"""InlineStore: the metadata store's verbs for bytes that lie inline, each of them one transaction.

    commit_segment with bytes -> read by readers -> oldest -> (one object is written) -> move -> forget

A small flush puts its bytes into the transaction that gives them offsets (metadata/store.py: commit_segment). The bytes
go when the last span that refers to them goes or moves. The segment's fate stays for a while, for a repeated commit.
"""

from collections.abc import Sequence
from typing import Protocol

from lakestream.model.inline import InlineAtRest, InlineMove, InlineStretch
from lakestream.model.place import SegmentId

FATES_KEPT_MS = 120_000
"""How long a dead inline segment's fate is kept. A flusher repeats a commit for 30 seconds, under the lease with which
it sealed the segment, so no repeat comes later than that."""


class InlineStore(Protocol):
    async def read(self, segments: Sequence[SegmentId]) -> dict[SegmentId, bytes]:
        """The bytes of these inline segments. Absent: they were moved, or nothing refers to them any more."""
        ...

    async def at_rest(self) -> InlineAtRest: ...

    async def oldest(self, *, bytes_max: int, segments_max: int) -> InlineStretch:
        """The first inline segments in the order of their ids, as many as fit; at least one, if there is any."""
        ...

    async def move(self, move: InlineMove) -> None:
        """Let the spans that are still there lie in the new segment, and free the inline segments that no span refers
        to any more. Neighbouring spans of a partition become one (rules/moving.py).

        The new segment has one fate: a repeated move changes nothing. Raises SegmentAbandoned if the sweep has given
        the segment up. A segment to which no span was left to move is dead from the start.
        """
        ...

    async def forget(self, limit: int) -> int:
        """Drop the fates of inline segments that have been dead for FATES_KEPT_MS. Returns how many."""
        ...

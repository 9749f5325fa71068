"""Records that cannot be read: named in the log, and kept in mind for `lakestream status`.

An operator must restore an object, or decide to do without it. A consumer that meets such records asks again many times
a second; each partition is named in the log once a minute. What is kept in mind goes when the records are read, or when
nobody has met them for a while.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from lakestream.model.errors import Corrupt, LakestreamError
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

SILENT_SECONDS = 60.0
KEPT_SECONDS = 900.0
"""Long enough for someone to look; short enough that what was let go of is not shown for ever."""
PARTITIONS_MAX = 10_000
"""Above it all are forgotten, and named once more: a bound on memory, not on what is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Where a partition cannot be read, and why: the error names the object."""

    partition: PartitionId
    offset: int
    problem: str


class Losses:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._silent_until: dict[PartitionId, float] = {}
        self._met: dict[PartitionId, tuple[float, Loss]] = {}

    def met(self, partition: PartitionId, offset: int, error: LakestreamError) -> None:
        """A read failed. Only what does not go away by itself is worth a line."""
        if not isinstance(error, Corrupt):
            return
        now = self._clock.monotonic()
        if len(self._met) >= PARTITIONS_MAX:
            self._met.clear()
            self._silent_until.clear()
        self._met[partition] = (now, Loss(partition=partition, offset=offset, problem=str(error)))
        if now < self._silent_until.get(partition, 0.0):
            return
        self._silent_until[partition] = now + SILENT_SECONDS
        log.error("records cannot be read", partition=partition, offset=offset, error=str(error))

    def read(self, partition: PartitionId, offset: int, next_offset: int) -> None:
        """These offsets were read: if they could not be before, now they can."""
        if self._met and (met := self._met.get(partition)) is not None and offset <= met[1].offset < next_offset:
            del self._met[partition]

    def kept(self) -> Sequence[Loss]:
        """What was met lately and has not been read since."""
        now = self._clock.monotonic()
        return [loss for at, loss in self._met.values() if now - at < KEPT_SECONDS]

"""Records that cannot be read: logged, and remembered for `lakestream status`.

An operator must restore an object, or decide to do without it. A consumer that hits such records retries many times a
second, so each partition is logged once a minute. A loss is forgotten when its records can be read again, or when
nobody has hit it for a while.
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
"""Long enough for someone to look, and short enough that an accepted loss disappears."""
PARTITIONS_MAX = 10_000
"""Above this all losses are forgotten, and logged once more: a limit on memory, not on log lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A partition that cannot be read from an offset on, and the reason: the error names the object."""

    partition: PartitionId
    offset: int
    problem: str


class Losses:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._silent_until: dict[PartitionId, float] = {}
        self._met: dict[PartitionId, tuple[float, Loss]] = {}

    def met(self, partition: PartitionId, offset: int, error: LakestreamError) -> None:
        """Record a failed read. Only corruption is logged and remembered: other errors pass by themselves."""
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
        """Forget the loss at these offsets: they were read."""
        if self._met and (met := self._met.get(partition)) is not None and offset <= met[1].offset < next_offset:
            del self._met[partition]

    def kept(self) -> Sequence[Loss]:
        """The recent losses whose records have not been read since."""
        now = self._clock.monotonic()
        return [loss for at, loss in self._met.values() if now - at < KEPT_SECONDS]

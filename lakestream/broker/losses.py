"""Records that cannot be read, named in the log: an operator must restore an object, or decide to do without it.

A consumer that meets one asks again many times a second. Each partition is named once a minute.
"""

import structlog

from lakestream.model.errors import Corrupt, LakestreamError
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

SILENT_SECONDS = 60.0
PARTITIONS_MAX = 10_000
"""Above it all are forgotten, and named once more: a bound on memory, not on what is said."""


class Losses:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._silent_until: dict[PartitionId, float] = {}

    def met(self, partition: PartitionId, offset: int, error: LakestreamError) -> None:
        """A read failed. Only what does not go away by itself is worth a line."""
        now = self._clock.monotonic()
        if not isinstance(error, Corrupt) or now < self._silent_until.get(partition, 0.0):
            return
        if len(self._silent_until) >= PARTITIONS_MAX:
            self._silent_until.clear()
        self._silent_until[partition] = now + SILENT_SECONDS
        log.error("records cannot be read", partition=partition, offset=offset, error=str(error))

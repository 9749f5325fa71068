"""The values of the segment table's `state` column. They are stored, so numbers are never reused."""

from enum import IntEnum


class SegmentState(IntEnum):
    COMMITTED = 1
    ABANDONED = 2


ABANDONED_KEPT_MS = 7 * 24 * 3600 * 1000
"""How long an abandoned row outlives its object. While the row is there, nobody can commit the segment, however late: a
broker that slept through its lease, the grace and the deletion still finds the decided fate."""

"""Where records are: a span is a run of offsets of one partition lying together in one place."""

from typing import NamedTuple

SegmentId = str
"""A ULID: 26 characters, sortable by creation time."""


class Span(NamedTuple):
    """Offsets [base_offset, last_offset] of one partition, contiguous in one WAL segment.

    The bytes hold one or more whole batches. Each batch was written with base offset 0; its true
    base is the span's base plus the records of the batches before it.
    """

    base_offset: int
    last_offset: int
    segment: SegmentId
    at: int
    length: int
    max_timestamp_ms: int
    append_ms: int
    """The log-append time to show for these records, or -1 where the producer's times stand."""


class Tail(NamedTuple):
    """Where a partition begins and ends. `next_offset` never falls; `log_start` never exceeds it."""

    log_start: int
    next_offset: int


class PartitionView(NamedTuple):
    """A tail and a run of spans from ONE read of the store: never mixed in age.

    `spans` are consecutive. They begin with the one that holds the offset asked for (or the first
    above it) and may stop short of `tail.next_offset` when there are many.
    """

    tail: Tail
    spans: tuple[Span, ...]

"""Where records are: a span is a run of offsets of one partition that lie together in the WAL or in a table."""

from typing import NamedTuple

from lakestream.model.transaction import AbortedRange

SegmentId = str
"""A ULID: 26 characters, sortable by creation time. An inline segment has a prefix before it."""

InlineData = bytes
"""The content of an inline segment: batches, one behind the other."""

INLINE_PREFIX = "inline-"
"""Sorts after every ULID, so an index over inline segments alone can be told by a comparison."""


def inline_id(ulid: str) -> SegmentId:
    return INLINE_PREFIX + ulid


def is_inline(segment: SegmentId) -> bool:
    """Whether the segment's bytes lie in the metadata store, and not in an object."""
    return segment.startswith(INLINE_PREFIX)


class Span(NamedTuple):
    """Offsets [base_offset, last_offset] of one partition, contiguous in one WAL segment, inline or in an object.

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
    """The log-append time to show for these records, or -1 to keep the producer's times."""


class FileSpan(NamedTuple):
    """Offsets [base_offset, last_offset] of one partition in a table's data file, possibly with holes."""

    base_offset: int
    last_offset: int
    file: str
    """The file's location in the table's metadata."""
    log_file: str | None
    """A second file of the same job, with rows of the same offsets that only the branch `log` refers to."""
    partition: int
    """The partition's number in the topic, as in the file's rows."""
    rows: int
    length: int
    """The bytes of these records in the log: about the size that a read returns."""
    max_timestamp_ms: int
    encoding: str | None = None
    """Set for a file that an engine appended: the object that says how its rows become records. The rows take the
    offsets of the span in their order, and all have the time `max_timestamp_ms`."""

    @property
    def files(self) -> tuple[str, ...]:
        return (self.file,) if self.log_file is None else (self.file, self.log_file)


class Tail(NamedTuple):
    """Where a partition begins and ends. `next_offset` never falls; neither of the others exceeds it."""

    log_start: int
    next_offset: int
    tabled_until: int = 0
    """The end of the contiguous prefix that is in the table."""
    unstable_from: int | None = None
    """The first offset that an open transaction wrote. None: no transaction is open here."""

    @property
    def last_stable(self) -> int:
        """Below it every transaction has ended. Readers of committed records stop here, and so do tables."""
        return self.next_offset if self.unstable_from is None else max(self.unstable_from, self.log_start)

    @property
    def tabled_or_gone(self) -> int:
        """All records below it are in the table, or the log has let go of them."""
        return max(self.tabled_until, self.log_start)

    @property
    def untabled(self) -> int:
        """How many records are not in the table yet."""
        return self.next_offset - self.tabled_or_gone


class PartitionView(NamedTuple):
    """A tail and a run of spans from ONE read of the store: never mixed in age.

    `spans` are consecutive. They begin with the one that holds the offset asked for (or the first
    above it) and may stop short of `tail.next_offset` when there are many.
    """

    tail: Tail
    spans: tuple[Span | FileSpan, ...]
    aborted: tuple[AbortedRange, ...] = ()
    """Aborted transactions in the WAL that overlap the spans. Those in the table lost their records there."""

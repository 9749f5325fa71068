"""Compaction in the metadata store: the lease, the partitions that wait, and the commit of one job.

    debts -> plan -> job begun -> files written -> job committed, or dropped

A job is one attempt to move a stretch of one topic from the WAL into its table. Its commit moves the table's pointer
and the topic's places in one transaction.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.freshness import Freshness
from lakestream.model.place import Span, Tail
from lakestream.model.table import PointerMove, TableId
from lakestream.model.topic import PartitionId, TopicId

JobId = str
"""A ULID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLease:
    """The right to compact. Every commit carries the token. The next holder's token is higher and fences it."""

    holder: str
    token: int
    ttl_ms: int


class Debt(NamedTuple):
    """A partition with records that are not in its table yet: everything in WAL segments."""

    topic: TopicId
    table: TableId | None
    """None if the topic has no table yet."""
    partition: PartitionId
    number: int
    """The partition's number in the topic."""
    tail: Tail
    spans: int
    bytes: int
    oldest_ms: int
    """The time when the first of these records was committed."""
    freshness: Freshness | None = None
    """The topic's `lakestream.freshness`; None where the topic does not set it."""


class UntabledSpan(NamedTuple):
    span: Span
    running_max_timestamp_ms: int
    """The greatest time in this span and everything before it in the partition."""


class TrimmedTopic(NamedTuple):
    """A topic that has a table and has lost its first records, by retention or DeleteRecords."""

    topic: TopicId
    offsets: int
    """The number of offsets below the starts of its partitions, in total. Never falls."""


class AppendedSpan(NamedTuple):
    """Offsets [base_offset, last_offset] of a partition that are the rows of a file which an engine appended."""

    number: int
    """The partition's number in the topic."""
    base_offset: int
    last_offset: int
    file: str


class NewJob(NamedTuple):
    id: JobId
    table: TableId


class TabledRange(NamedTuple):
    """Offsets [start, end) of a partition that a job brings into the table."""

    partition: PartitionId
    start: int
    end: int


class NewFileSpan(NamedTuple):
    """A file span as its writer knows it. Bytes and commit time come from the spans that it replaces."""

    partition: PartitionId
    base_offset: int
    last_offset: int
    file: str
    log_file: str | None
    rows: int
    max_timestamp_ms: int
    """The greatest time of the rows. A deletion may have cut a span of the log, and removed its greatest time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCommit:
    job: JobId
    token: int
    move: PointerMove
    ranges: tuple[TabledRange, ...] = ()
    spans: tuple[NewFileSpan, ...] = ()
    """The spans of each range, in offset order; together they cover it."""
    merged: tuple[NewFileSpan, ...] = ()
    """Spans that replace existing file spans of the same offsets. `tabled_until` stays where it is."""
    replaced_files: frozenset[str] = frozenset()
    """The files whose spans `merged` replaces, all of them."""


class FileUse(NamedTuple):
    """A pair of files in which spans of a topic lie, as FileSpan names them."""

    file: str
    log_file: str | None
    bytes: int
    """The bytes of these spans' records in the log."""
    first_ms: int
    """The time when the first of these spans was committed to the log."""
    last_ms: int


class TabledSpan(NamedTuple):
    """A file span with everything that is stored about it but its table."""

    partition: PartitionId
    number: int
    """The partition's number in the topic."""
    base_offset: int
    last_offset: int
    file: str
    log_file: str | None
    rows: int
    max_timestamp_ms: int


class LeftJob(NamedTuple):
    """A job that will not be committed any more, and whose files may still exist."""

    id: JobId
    table: TableId

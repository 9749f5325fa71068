"""Compaction as the metadata store sees it: who may do it, what waits for it, and what one job asks to commit.

    debts -> plan -> job begun -> files written -> job committed, or dropped

A job is one attempt to move a stretch of one topic from the WAL into its table. Its commit moves the table's pointer
and the topic's places in one transaction.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.place import Span, Tail
from lakestream.model.table import PointerMove, TableId
from lakestream.model.topic import PartitionId, TopicId

JobId = str
"""A ULID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLease:
    """The right to compact. Every commit carries the token; the next holder's is higher and fences it."""

    holder: str
    token: int
    ttl_ms: int


class Debt(NamedTuple):
    """A partition that has records which are not in its table yet: all that lies in WAL segments."""

    topic: TopicId
    table: TableId | None
    """None where the topic has none yet."""
    partition: PartitionId
    number: int
    """In the topic."""
    tail: Tail
    spans: int
    bytes: int
    oldest_ms: int
    """When the first of them was committed."""


class UntabledSpan(NamedTuple):
    span: Span
    running_max_timestamp_ms: int
    """Over this span and everything before it in the partition."""


class TrimmedTopic(NamedTuple):
    """A topic that has a table and has lost its first records, by retention or DeleteRecords."""

    topic: TopicId
    offsets: int
    """How many offsets lie below the starts of its partitions, all together. Never falls."""


class NewJob(NamedTuple):
    id: JobId
    table: TableId


class TabledRange(NamedTuple):
    """Offsets [start, end) of a partition that a job brings into the table."""

    partition: PartitionId
    start: int
    end: int


class NewFileSpan(NamedTuple):
    """A file span as its writer knows it; bytes and the time of its commit come from the spans that it replaces."""

    partition: PartitionId
    base_offset: int
    last_offset: int
    file: str
    log_file: str | None
    rows: int
    max_timestamp_ms: int
    """Of the rows: a span of the log may have been cut through by a deletion, and have had its greatest time before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCommit:
    job: JobId
    token: int
    move: PointerMove
    ranges: tuple[TabledRange, ...]
    spans: tuple[NewFileSpan, ...]
    """Of each range, in offset order; together they cover it."""


class LeftJob(NamedTuple):
    """A job that will not be committed any more, and whose files may still be there."""

    id: JobId
    table: TableId

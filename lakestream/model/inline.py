"""Bytes that lie in the metadata store for a while, and their move into an ordinary segment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.place import SegmentId, Span
from lakestream.model.topic import PartitionId, TopicId


class InlineSpan(NamedTuple):
    """A span whose bytes are inline, and the partition that it belongs to."""

    partition: PartitionId
    topic_id: TopicId
    number: int
    """The partition's number in its topic."""
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineStretch:
    """The oldest inline segments: their spans by partition and offset, and their bytes."""

    spans: Sequence[InlineSpan]
    data: Mapping[SegmentId, bytes]


class InlineAtRest(NamedTuple):
    """The inline bytes of the whole cluster."""

    bytes: int
    segments: int
    oldest_ms: int | None
    """When the oldest of them was committed, by the store's clock."""


class MovedSpan(NamedTuple):
    """A span as the mover found it, and the position of its bytes in the new object."""

    partition: PartitionId
    last_offset: int
    segment: SegmentId
    """The inline segment."""
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineMove:
    """A durable object with the bytes of many inline spans, which from now on lie there."""

    segment: SegmentId
    bytes: int
    spans: Sequence[MovedSpan]

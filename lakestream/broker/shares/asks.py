"""Requests of share group members about records, and the answers to them, independent of any wire format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from lakestream.broker.directory import TopicEntry
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.storage.records.header import Bytes


class Acknowledgement(IntEnum):
    """What a member made of a record. Kafka's numbers."""

    GAP = 0
    """There is no record at this offset."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4
    """It needs more time."""


class AcknowledgedBatch(NamedTuple):
    """One type for all of these offsets, or one for each."""

    first: int
    last: int
    types: Sequence[int]


Acknowledged = Mapping[TopicPartition, Sequence[AcknowledgedBatch]]


class SharedPartition(NamedTuple):
    """A partition that a member reads."""

    place: TopicPartition
    entry: TopicEntry

    @property
    def partition(self) -> PartitionId:
        return self.entry.topic.partitions[self.place.number]


class Acquired(NamedTuple):
    first: int
    last: int
    deliveries: int
    """With this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareFetchAsk:
    group: str
    member: str
    partitions: Sequence[SharedPartition]
    """Those to read from, in the order in which they may use up the limits."""
    records_max: int
    bytes_max: int
    wait_seconds: float
    whole_batches: bool
    """Lock the rest of a batch as well, beyond `records_max`: it need not be sent twice then."""


@dataclass(slots=True, kw_only=True)
class SharedRecords:
    """The answer for one partition."""

    parts: list[Bytes] = field(default_factory=list)
    acquired: tuple[Acquired, ...] = ()
    error: LakestreamError | None = None

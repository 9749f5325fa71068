"""The cluster at a glance: brokers, topics, their offsets and bytes, their tables, the WAL.

All offsets come from one read of the metadata store, so they belong together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.administration.health import TableHealth, TablesHealth
from lakestream.administration.losses import LostRecords, lost_records
from lakestream.administration.missing_files import MissingFiles
from lakestream.administration.pipeline import PipelineState
from lakestream.administration.processes import BrokerStatus, LiveProcesses
from lakestream.administration.transactions import OpenTransactions
from lakestream.administration.wal import WalAtRest, WalStatus
from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.broker import LiveBroker
from lakestream.model.configs.profile import FlushCost
from lakestream.model.place import Tail
from lakestream.model.topic import PartitionId, Topic
from lakestream.model.transaction import OpenTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatus:
    number: int
    tail: Tail
    wal_start: int | None
    """The first offset in the WAL, if there is any."""
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStatus:
    topic: Topic
    partitions: tuple[PartitionStatus, ...]
    table: TableHealth
    lost: tuple[LostRecords, ...]
    missing_files: tuple[str, ...] | None
    """Locations of missing table files. None: the caller did not ask for them."""

    @property
    def records(self) -> int:
        return sum(part.tail.next_offset - part.tail.log_start for part in self.partitions)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    cluster_id: str
    metadata: str
    """The kind of the metadata store."""
    brokers: tuple[BrokerStatus, ...]
    pipeline: PipelineState
    wal: WalStatus
    flush_costs: tuple[FlushCost, ...]
    """By profile, of all live brokers since they started."""
    topics: tuple[TopicStatus, ...]
    """In the order of their names."""
    stuck_transactions: tuple[OpenTransaction, ...]
    """Open for so long that they hold up readers and tables, the oldest first."""


class Overview:
    def __init__(
        self,
        store: MetadataStore,
        *,
        processes: LiveProcesses,
        tables: TablesHealth,
        wal: WalAtRest,
        missing: MissingFiles,
        transactions: OpenTransactions,
    ) -> None:
        self._store = store
        self._processes = processes
        self._tables = tables
        self._wal = wal
        self._missing = missing
        self._transactions = transactions

    async def status(self, *, check_files: bool = False) -> ClusterStatus:
        """`check_files` also checks that all files of the tables exist, which lists every one of them."""
        live = await self._processes.brokers()
        brokers = await self._processes.statuses(live)
        topics = sorted((await self._store.topics()).topics, key=lambda topic: topic.name)
        return ClusterStatus(
            cluster_id=await self._store.cluster_id(),
            metadata=self._store.url.partition("://")[0],
            brokers=brokers,
            pipeline=await self._processes.pipeline(),
            wal=await self._wal.status(),
            flush_costs=await self._processes.flush_costs(live),
            topics=await self.of_topics(topics, live, check_files=check_files),
            stuck_transactions=tuple(await self._transactions.stuck()),
        )

    async def of_topics(
        self, topics: Sequence[Topic], brokers: Sequence[LiveBroker], *, check_files: bool = False
    ) -> tuple[TopicStatus, ...]:
        """The status of these topics alone, in their order. `brokers` are asked for records that they cannot read."""
        sizes = await self._store.tails([partition for topic in topics for partition in topic.partitions])
        # After the tails: records that are in the WAL now were at or above `tabled_until` then.
        wal_starts = await self._wal.starts(topics)
        health = await self._tables.of_topics(topics, sizes)
        losses = await self._processes.losses(brokers)
        missing = await self._missing.of_topics(topics) if check_files else {}
        return tuple(
            TopicStatus(
                topic=topic,
                partitions=_partitions(topic, sizes, wal_starts),
                table=health[topic.id],
                lost=lost_records(topic, losses),
                missing_files=missing.get(topic.id),
            )
            for topic in topics
        )


def _partitions(
    topic: Topic, sizes: Mapping[PartitionId, PartitionSize], wal_starts: Mapping[PartitionId, int]
) -> tuple[PartitionStatus, ...]:
    return tuple(
        PartitionStatus(
            number=number,
            tail=sizes[partition].tail,
            wal_start=wal_starts.get(partition),
            bytes=sizes[partition].bytes,
        )
        for number, partition in enumerate(topic.partitions)
        if partition in sizes  # otherwise it was deleted between the two reads
    )

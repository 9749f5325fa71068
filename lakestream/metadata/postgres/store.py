"""PostgresStore: each verb of the interface, run on a borrowed connection.

    a write -> one transaction -> alarm, here and elsewhere          a read -> one snapshot

Everything that speaks SQL is in the files beside this one; here is only who does what.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from lakestream.metadata.group_store import GroupStore
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.postgres import brokers, committing, dropping, garbage, looking, topics
from lakestream.metadata.postgres.alarm import Alarm
from lakestream.metadata.postgres.asking import one_row
from lakestream.metadata.postgres.failures import TRY_AGAIN, plain_errors
from lakestream.metadata.postgres.groups import PostgresGroups
from lakestream.metadata.postgres.jobs import PostgresJobs
from lakestream.metadata.postgres.pool import Connection, Pool
from lakestream.metadata.postgres.registry import PostgresRegistry
from lakestream.metadata.postgres.repairs import PostgresRepairs
from lakestream.metadata.postgres.tables import PostgresTables
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.repair_store import RepairStore
from lakestream.metadata.store import PartitionSize, TopicsView, ViewAsk, WalSize
from lakestream.metadata.table_store import TableStore
from lakestream.model.broker import BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.configs.edit import ConfigEdit
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span
from lakestream.model.segment import SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId, Topic, TopicId, TopicSpec

T = TypeVar("T")

_ATTEMPTS_MAX = 3
"""A verb that the server undid, to let another one pass, is simply done again."""


class PostgresStore:
    """Made by `open_postgres`. Its clock is the server's."""

    def __init__(self, url: str, *, shown_url: str, cluster_id: str, pool: Pool, alarm: Alarm) -> None:
        self.url = url
        self._shown_url = shown_url
        self._cluster_id = cluster_id
        self._pool = pool
        self._alarm = alarm
        self.tables: TableStore = PostgresTables(write=self._write, read=self._read)
        self.registry: RegistryStore = PostgresRegistry(write=self._write, read=self._read)
        self.repairs: RepairStore = PostgresRepairs(write=self._write, read=self._read)
        self.jobs: JobStore = PostgresJobs(write=self._write, read=self._read)
        self.groups: GroupStore = PostgresGroups(run=self._read)

    async def _read(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        with plain_errors(self._shown_url):
            for _ in range(_ATTEMPTS_MAX - 1):
                try:
                    return await self._attempt(query)
                except TRY_AGAIN:
                    continue
            return await self._attempt(query)

    async def _attempt(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._pool.connection() as connection:
            return await query(connection)

    async def _write(self, verb: Callable[[Connection], Awaitable[T]]) -> T:
        result = await self._read(verb)
        self._alarm.ring()
        return result

    # --- the cluster -------------------------------------------------------------------------

    async def cluster_id(self) -> str:
        return self._cluster_id

    async def now_ms(self) -> int:
        (now,) = await self._read(lambda c: one_row(c, "SELECT now_ms()"))
        return int(now)

    async def register_broker(self, spec: BrokerSpec, ttl_ms: int) -> BrokerLease:
        return await self._write(lambda c: brokers.register_broker(c, spec, ttl_ms))

    async def renew_broker(self, lease: BrokerLease) -> None:
        await self._write(lambda c: brokers.renew_broker(c, lease))

    async def leave_broker(self, lease: BrokerLease) -> None:
        await self._write(lambda c: brokers.leave_broker(c, lease))

    async def live_brokers(self) -> tuple[LiveBroker, ...]:
        return await self._read(brokers.live_brokers)

    # --- topics ------------------------------------------------------------------------------

    async def topics(self) -> TopicsView:
        return await self._read(topics.topics)

    async def topics_version(self) -> int:
        return await self._read(topics.topics_version)

    async def create_topic(self, spec: TopicSpec) -> Topic:
        return await self._write(lambda c: topics.create_topic(c, spec))

    async def delete_topic(self, topic: TopicId) -> None:
        await self._write(lambda c: topics.delete_topic(c, topic))

    async def add_partitions(self, topic: TopicId, total: int) -> Topic:
        return await self._write(lambda c: topics.add_partitions(c, topic, total))

    async def edit_topic_config(
        self, topic: TopicId, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> Topic:
        return await self._write(lambda c: topics.edit_topic_config(c, topic, edits, check))

    # --- the log -----------------------------------------------------------------------------

    async def commit_segment(self, commit: SegmentCommit) -> SegmentFate:
        return await self._write(lambda c: committing.commit_segment(c, commit))

    async def abandon_segment(self, segment: SegmentId) -> SegmentFate:
        return await self._write(lambda c: committing.abandon_segment(c, segment))

    async def views(self, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
        return await self._read(lambda c: looking.views(c, asks))

    async def tails(self, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
        return await self._read(lambda c: looking.tails(c, partitions))

    async def span_at_time(self, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
        return await self._read(lambda c: looking.span_at_time(c, partition, timestamp_ms))

    async def span_of_max_timestamp(self, partition: PartitionId) -> Span | FileSpan | None:
        return await self._read(lambda c: looking.span_of_max_timestamp(c, partition))

    async def delete_records(self, partition: PartitionId, before_offset: int) -> int:
        return await self._write(lambda c: dropping.delete_records(c, partition, before_offset))

    async def apply_retention(
        self, partition: PartitionId, *, expired_before_ms: int | None, bytes_max: int | None, spans_max: int
    ) -> int:
        return await self._write(
            lambda c: dropping.apply_retention(
                c, partition, expired_before_ms=expired_before_ms, bytes_max=bytes_max, spans_max=spans_max
            )
        )

    # --- producers and garbage ---------------------------------------------------------------

    async def take_producer_ids(self, count: int) -> range:
        return await self._write(lambda c: garbage.take_producer_ids(c, count))

    async def forget_producers(self, idle_for_ms: int, limit: int) -> int:
        return await self._write(lambda c: garbage.forget_producers(c, idle_for_ms, limit))

    async def deletable_segments(self, grace_ms: int, limit: int) -> list[SegmentId]:
        return await self._read(lambda c: garbage.deletable_segments(c, grace_ms, limit))

    async def wal_size(self) -> WalSize:
        return await self._read(garbage.wal_size)

    async def wal_copies(self) -> dict[TopicId, int]:
        return await self._read(garbage.wal_copies)

    async def forget_segments(self, segments: Sequence[SegmentId]) -> None:
        await self._write(lambda c: garbage.forget_segments(c, segments))

    async def unknown_segments(self, segments: Sequence[SegmentId]) -> list[SegmentId]:
        return await self._read(lambda c: garbage.unknown_segments(c, segments))

    async def take_duty(self, name: str, holder: str, ttl_ms: int) -> bool:
        return await self._write(lambda c: garbage.take_duty(c, name, holder, ttl_ms))

    # --- alarms ------------------------------------------------------------------------------

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        return self._alarm.subscribe(callback)

    async def close(self) -> None:
        await self._alarm.close()
        await self._pool.close()

"""SqliteStore: each verb of the interface, handed to the writer (one transaction) or to the reader (one snapshot).

    writes -> writer thread, group commit -> alarm      reads -> reader thread      other processes -> polled alarm

Everything between open and commit is in the files beside this one; here is only who does what.
"""

from collections.abc import Callable, Mapping, Sequence

from lakestream.metadata.group_store import GroupStore
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.repair_store import RepairStore
from lakestream.metadata.sqlite import brokers, committing, dropping, garbage, looking, topics
from lakestream.metadata.sqlite.alarm import Alarm
from lakestream.metadata.sqlite.groups import SqliteGroups
from lakestream.metadata.sqlite.jobs import SqliteJobs
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.reader import Reader
from lakestream.metadata.sqlite.registry import SqliteRegistry
from lakestream.metadata.sqlite.repairs import SqliteRepairs
from lakestream.metadata.sqlite.tables import SqliteTables
from lakestream.metadata.sqlite.turn import Turn
from lakestream.metadata.sqlite.writer import Writer
from lakestream.metadata.store import PartitionSize, TopicsView, ViewAsk, WalSize
from lakestream.metadata.table_store import TableStore
from lakestream.model.broker import BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.configs.edit import ConfigEdit
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span
from lakestream.model.segment import SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId, Topic, TopicId, TopicSpec
from lakestream.world.clock import Clock


class SqliteStore:
    """Made by `open_sqlite`. Its clock is the machine's wall clock, read inside the transaction that it judges."""

    def __init__(
        self, url: str, *, cluster_id: str, writing: Lane, reading: Lane, turn: Turn, alarm: Alarm, clock: Clock
    ) -> None:
        """`reading` may be `writing`, where there can be only one connection."""
        self.url = url
        self._cluster_id = cluster_id
        self._lanes = (writing, reading) if reading is not writing else (writing,)
        self._alarm = alarm
        self._writer = Writer(writing, turn=turn, clock=clock, on_commit=alarm.ring)
        self._write = self._writer.run
        self._read = Reader(reading).run
        self._now = clock.wall_ms
        self.tables: TableStore = SqliteTables(write=self._write, read=self._read, now_ms=self._now)
        self.registry: RegistryStore = SqliteRegistry(write=self._write, read=self._read, now_ms=self._now)
        self.repairs: RepairStore = SqliteRepairs(write=self._write, read=self._read, now_ms=self._now)
        self.jobs: JobStore = SqliteJobs(write=self._write, read=self._read, now_ms=self._now)
        self.groups: GroupStore = SqliteGroups(writer=self._writer, read=self._read, now_ms=self._now)

    # --- the cluster -------------------------------------------------------------------------

    async def cluster_id(self) -> str:
        return self._cluster_id

    async def now_ms(self) -> int:
        return self._now()

    async def register_broker(self, spec: BrokerSpec, ttl_ms: int) -> BrokerLease:
        return await self._write(lambda c: brokers.register_broker(c, spec, ttl_ms, self._now()))

    async def renew_broker(self, lease: BrokerLease) -> None:
        await self._write(lambda c: brokers.renew_broker(c, lease, self._now()))

    async def leave_broker(self, lease: BrokerLease) -> None:
        await self._write(lambda c: brokers.leave_broker(c, lease))

    async def live_brokers(self) -> tuple[LiveBroker, ...]:
        return await self._read(lambda c: brokers.live_brokers(c, self._now()))

    # --- topics ------------------------------------------------------------------------------

    async def topics(self) -> TopicsView:
        return await self._read(topics.topics)

    async def topics_version(self) -> int:
        return await self._read(topics.topics_version)

    async def create_topic(self, spec: TopicSpec) -> Topic:
        return await self._write(lambda c: topics.create_topic(c, spec, self._now()))

    async def delete_topic(self, topic: TopicId) -> None:
        await self._write(lambda c: topics.delete_topic(c, topic, self._now()))

    async def add_partitions(self, topic: TopicId, total: int) -> Topic:
        return await self._write(lambda c: topics.add_partitions(c, topic, total))

    async def edit_topic_config(
        self, topic: TopicId, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> Topic:
        return await self._write(lambda c: topics.edit_topic_config(c, topic, edits, check))

    # --- the log -----------------------------------------------------------------------------

    async def commit_segment(self, commit: SegmentCommit) -> SegmentFate:
        return await self._write(lambda c: committing.commit_segment(c, commit, self._now()))

    async def abandon_segment(self, segment: SegmentId) -> SegmentFate:
        return await self._write(lambda c: committing.abandon_segment(c, segment, self._now()))

    async def views(self, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
        return await self._read(lambda c: looking.views(c, asks))

    async def tails(self, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
        return await self._read(lambda c: looking.tails(c, partitions))

    async def span_at_time(self, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
        return await self._read(lambda c: looking.span_at_time(c, partition, timestamp_ms))

    async def span_of_max_timestamp(self, partition: PartitionId) -> Span | FileSpan | None:
        return await self._read(lambda c: looking.span_of_max_timestamp(c, partition))

    async def delete_records(self, partition: PartitionId, before_offset: int) -> int:
        return await self._write(lambda c: dropping.delete_records(c, partition, before_offset, self._now()))

    async def apply_retention(
        self, partition: PartitionId, *, expired_before_ms: int | None, bytes_max: int | None, spans_max: int
    ) -> int:
        return await self._write(
            lambda c: dropping.apply_retention(
                c,
                partition,
                expired_before_ms=expired_before_ms,
                bytes_max=bytes_max,
                spans_max=spans_max,
                now_ms=self._now(),
            )
        )

    # --- producers and garbage ---------------------------------------------------------------

    async def take_producer_ids(self, count: int) -> range:
        return await self._write(lambda c: garbage.take_producer_ids(c, count))

    async def forget_producers(self, idle_for_ms: int, limit: int) -> int:
        return await self._write(lambda c: garbage.forget_producers(c, idle_for_ms, limit, self._now()))

    async def deletable_segments(self, grace_ms: int, limit: int) -> list[SegmentId]:
        return await self._read(lambda c: garbage.deletable_segments(c, grace_ms, limit, self._now()))

    async def wal_size(self) -> WalSize:
        return await self._read(garbage.wal_size)

    async def wal_copies(self) -> dict[TopicId, int]:
        return await self._read(garbage.wal_copies)

    async def forget_segments(self, segments: Sequence[SegmentId]) -> None:
        await self._write(lambda c: garbage.forget_segments(c, segments, self._now()))

    async def unknown_segments(self, segments: Sequence[SegmentId]) -> list[SegmentId]:
        return await self._read(lambda c: garbage.unknown_segments(c, segments))

    async def take_duty(self, name: str, holder: str, ttl_ms: int) -> bool:
        return await self._write(lambda c: garbage.take_duty(c, name, holder, ttl_ms, self._now()))

    # --- alarms ------------------------------------------------------------------------------

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        return self._alarm.subscribe(callback)

    async def close(self) -> None:
        await self._alarm.close()
        await self._writer.close()
        for lane in self._lanes:
            await lane.close()

"""SqliteStore: hands verbs to the writer (one transaction) or to the reader (one snapshot).

    writes -> writer thread, group commit -> alarm      reads -> reader thread      other processes -> polled alarm

Most verbs are in metadata/verbs. This class has those that SQLite does in its own way, and puts the parts together.
"""

from collections.abc import Callable, Sequence

from lakestream.metadata.sqlite import committing, looking
from lakestream.metadata.sqlite.alarm import Alarm
from lakestream.metadata.sqlite.groups import SqliteGroups
from lakestream.metadata.sqlite.job_commit import SqliteJobs
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.reader import Reader
from lakestream.metadata.sqlite.running import SqliteDatabase
from lakestream.metadata.sqlite.turn import WriterTurn
from lakestream.metadata.sqlite.writer import SqliteWriter
from lakestream.metadata.store import PartitionSize, ViewAsk
from lakestream.metadata.verbs.store import SharedVerbs
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span
from lakestream.model.segment import SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock


class SqliteStore(SharedVerbs):
    """Made by `open_sqlite`. Its clock is the machine's wall clock, read inside the transaction that it judges."""

    def __init__(
        self, url: str, *, cluster_id: str, writing: Lane, reading: Lane, turn: WriterTurn, alarm: Alarm, clock: Clock
    ) -> None:
        """`reading` may be the same as `writing`, if there can be only one connection."""
        self._lanes = (writing, reading) if reading is not writing else (writing,)
        self._alarm = alarm
        self._writer = SqliteWriter(writing, turn=turn, clock=clock, on_commit=alarm.ring)
        self._write = self._writer.run
        self._read = Reader(reading).run
        self._now = clock.wall_ms
        super().__init__(
            url,
            cluster_id=cluster_id,
            database=SqliteDatabase(write=self._write, read=self._read, now_ms=self._now),
            quiet=SqliteDatabase(write=self._writer.run_quietly, read=self._read, now_ms=self._now),
            jobs=SqliteJobs(write=self._write, read=self._read, now_ms=self._now),
            groups=SqliteGroups(writer=self._writer, read=self._read, now_ms=self._now),
        )

    async def now_ms(self) -> int:
        return self._now()

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

    # --- alarms ------------------------------------------------------------------------------

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        return self._alarm.subscribe(callback)

    async def close(self) -> None:
        await self._alarm.close()
        await self._writer.close()
        for lane in self._lanes:
            await lane.close()

"""PostgresStore: each verb runs on a borrowed connection.

    a write -> one transaction -> alarm, here and elsewhere          a read -> what is committed

Most verbs are in metadata/verbs. This class has those that PostgreSQL does in its own way, and puts the parts together.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from lakestream.metadata.postgres import committing, looking
from lakestream.metadata.postgres.alarm import Alarm
from lakestream.metadata.postgres.asking import one_row
from lakestream.metadata.postgres.failures import TRY_AGAIN, plain_errors
from lakestream.metadata.postgres.groups import PostgresGroups
from lakestream.metadata.postgres.job_commit import PostgresJobs
from lakestream.metadata.postgres.pool import Connection, Pool
from lakestream.metadata.postgres.running import PostgresDatabase
from lakestream.metadata.store import PartitionSize, ViewAsk
from lakestream.metadata.verbs.store import SharedVerbs
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span
from lakestream.model.segment import SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId

T = TypeVar("T")

_ATTEMPTS_MAX = 3
"""Attempts at a verb that the server rolled back to let another one pass."""


class PostgresStore(SharedVerbs):
    """Made by `open_postgres`. Its clock is the server's."""

    def __init__(self, url: str, *, shown_url: str, cluster_id: str, pool: Pool, alarm: Alarm) -> None:
        self._shown_url = shown_url
        self._pool = pool
        self._alarm = alarm
        super().__init__(
            url,
            cluster_id=cluster_id,
            database=PostgresDatabase(write=self._write, read=self._read),
            quiet=PostgresDatabase(write=self._read, read=self._read),
            jobs=PostgresJobs(write=self._write, read=self._read),
            groups=PostgresGroups(run=self._read),
        )

    async def now_ms(self) -> int:
        (now,) = await self._read(lambda c: one_row(c, "SELECT now_ms()"))
        return int(now)

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

    # --- alarms ------------------------------------------------------------------------------

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        return self._alarm.subscribe(callback)

    async def close(self) -> None:
        await self._alarm.close()
        await self._pool.close()

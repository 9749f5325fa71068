"""Serving: what members of share groups ask for: records to work on, and an end to the work on others.

    acknowledge -> the turn of each share-partition ->\\
                                                        saved together -> answered
    fetch -> first free offset -> read the log -> lock ->/
          -> nothing free: wait until the log grows, a lock runs out or a record is given back; then look again
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from lakestream.broker.fetch import FetchAsk, Fetched, Fetching, FetchLimits
from lakestream.broker.offsets import Offsets
from lakestream.broker.shares.acknowledging import Holder, acknowledge, given_back
from lakestream.broker.shares.acquiring import AcquireAsk, acquire, next_offset
from lakestream.broker.shares.asks import (
    Acknowledged,
    Acquired,
    SharedPartition,
    SharedRecords,
    ShareFetchAsk,
)
from lakestream.broker.shares.errors import ShareOvertaken
from lakestream.broker.shares.held import HeldShare
from lakestream.broker.shares.holdings import Hold, ShareHoldings
from lakestream.broker.shares.limits import ShareLimits
from lakestream.broker.shares.log_batches import LogBatch, log_batches
from lakestream.broker.shares.state import ShareState
from lakestream.broker.wakeups import Wakeups
from lakestream.model.configs.group_configs import ShareConfig
from lakestream.model.configs.topic_config import Compression
from lakestream.model.errors import LakestreamError, OffsetOutOfRange
from lakestream.model.group import TopicPartition
from lakestream.storage.records.header import Bytes
from lakestream.storage.records.recompress import replay_codec
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.world.clock import Clock

ENCODINGS = {compression: Encoding(codec=replay_codec(compression)) for compression in Compression}
LOCK_WAIT_SECONDS_MIN = 0.01
"""A reader that waits for a lock to run out looks again this much later, at the earliest."""

Records = dict[TopicPartition, SharedRecords]
Outcomes = dict[TopicPartition, LakestreamError | None]
Turn = Callable[[HeldShare], ShareState]


class ShareServing:
    def __init__(
        self,
        *,
        holdings: ShareHoldings,
        fetching: Fetching,
        offsets: Offsets,
        wakeups: Wakeups,
        limits: ShareLimits,
        clock: Clock,
    ) -> None:
        self._holdings = holdings
        self._fetching = fetching
        self._offsets = offsets
        self._wakeups = wakeups
        self._limits = limits
        self._clock = clock

    # --- acknowledgements ------------------------------------------------------------------------

    async def acknowledge(
        self,
        group: str,
        member: str,
        partitions: Sequence[SharedPartition],
        acknowledged: Acknowledged,
        config: ShareConfig,
    ) -> Outcomes:
        """The result of each partition. Durable when this returns."""

        def turn(held: HeldShare) -> ShareState:
            now_ms = self._holdings.clock.now_ms()
            holder = Holder(member, now_ms, now_ms + config.lock_ms, config.deliveries_max)
            return acknowledge(held.state, acknowledged[TopicPartition(held.key.topic, held.key.number)], holder)

        return await self._take_turns(group, partitions, config, turn)

    async def give_back(
        self, group: str, member: str, partitions: Sequence[SharedPartition], config: ShareConfig
    ) -> None:
        """The member leaves: others may have what it holds."""
        await self._take_turns(group, partitions, config, lambda held: given_back(held.state, member))

    async def _take_turns(
        self, group: str, partitions: Sequence[SharedPartition], config: ShareConfig, turn: Turn
    ) -> Outcomes:
        """Take a turn at each share-partition, and save them together. A turn that another broker has overtaken is
        taken again, from what that broker left."""
        outcomes: Outcomes = {}
        left = list(partitions)
        for _ in range(self._limits.attempts_max):
            holds = await self._holdings.hold(group, left, config)
            saving = [(one, self._turn(holds[one.place], turn, one)) for one in left]
            for one, saved in saving:
                outcomes[one.place] = await _outcome(saved)
            self._wakeups.wake(one.partition for one in left)
            left = [one for one in left if isinstance(outcomes[one.place], ShareOvertaken)]
            if not left:
                break
        return outcomes

    def _turn(self, hold: Hold, turn: Turn, one: SharedPartition) -> "LakestreamError | asyncio.Future[None]":
        if isinstance(hold, LakestreamError):
            return hold
        try:
            hold.put(turn(hold))
        except LakestreamError as error:
            return error
        return self._holdings.save(hold)

    # --- records ---------------------------------------------------------------------------------

    async def fetch(self, ask: ShareFetchAsk, config: ShareConfig) -> Records:
        """Locked records of some of the partitions, and errors. Partitions with neither are absent."""
        deadline = self._clock.monotonic() + ask.wait_seconds
        while True:
            waiter = self._wakeups.expect(one.partition for one in ask.partitions)
            try:
                holds = await self._holdings.hold(ask.group, ask.partitions, config)
                records = await self._acquire(ask, holds, config)
                remaining = deadline - self._clock.monotonic()
                if records or remaining <= 0:
                    return records
                await waiter.wait(self._clock, min(remaining, self._seconds_to_unlock(holds)))
            finally:
                self._wakeups.done(waiter)

    def _seconds_to_unlock(self, holds: Mapping[TopicPartition, Hold]) -> float:
        ends = [hold.state.next_deadline() for hold in holds.values() if isinstance(hold, HeldShare)]
        soonest = min((end for end in ends if end is not None), default=None)
        if soonest is None:
            return float(self._limits.session_idle_ms)
        return max((soonest - self._holdings.clock.now_ms()) / 1000, LOCK_WAIT_SECONDS_MIN)

    async def _acquire(self, ask: ShareFetchAsk, holds: Mapping[TopicPartition, Hold], config: ShareConfig) -> Records:
        records: Records = {
            place: SharedRecords(error=hold) for place, hold in holds.items() if isinstance(hold, LakestreamError)
        }
        ours = [
            (one, hold) for one in ask.partitions if isinstance(hold := holds[one.place], HeldShare) and not hold.lost
        ]
        async with _reading([held for _, held in ours]):
            places = [(one, held, at) for one, held in ours if (at := self._free_offset(held, config)) is not None]
            fetched = await self._read(ask, [(one, at) for one, _, at in places], config)
            left = ask.records_max
            for (one, held, at), answer in zip(places, fetched, strict=True):
                got = await self._lock(held, one, at, answer, ask, left, config)
                if got is not None:
                    records[one.place] = got
                    left -= sum(each.last - each.first + 1 for each in got.acquired)
        for one, saved in [(one, self._holdings.save(held)) for one, held in ours]:
            if (error := await _outcome(saved)) is not None and one.place in records:
                records[one.place] = SharedRecords(error=error)
        return records

    def _free_offset(self, held: HeldShare, config: ShareConfig) -> int | None:
        held.put(held.state.unlocked(self._holdings.clock.now_ms(), config.deliveries_max))
        return next_offset(held.state, config.window_max)

    async def _read(
        self, ask: ShareFetchAsk, places: Sequence[tuple[SharedPartition, int]], config: ShareConfig
    ) -> Sequence[Fetched]:
        if not places:
            return ()
        asks = [
            FetchAsk(
                partition=one.partition,
                offset=at,
                bytes_max=ask.bytes_max,
                encoding=ENCODINGS[one.entry.config.compression],
                committed=config.committed,
            )
            for one, at in places
        ]
        return await self._fetching.fetch(asks, FetchLimits(bytes_min=0, bytes_max=ask.bytes_max, wait_seconds=0))

    async def _lock(
        self,
        held: HeldShare,
        one: SharedPartition,
        at: int,
        fetched: Fetched,
        ask: ShareFetchAsk,
        records_max: int,
        config: ShareConfig,
    ) -> SharedRecords | None:
        """Lock what was read. None: there is nothing to lock."""
        if isinstance(fetched.error, OffsetOutOfRange):
            tail = await self._offsets.tail(one.partition)
            if tail.log_start <= held.state.start:
                return SharedRecords(error=fetched.error)
            held.put(held.state.from_offset(tail.log_start))
            self._wakeups.wake([one.partition])  # look again, at what is left of the log
            return None
        if fetched.error is not None:
            return SharedRecords(error=fetched.error)
        if fetched.tail is not None:
            held.put(held.state.from_offset(fetched.tail.log_start))
        if records_max <= 0 or not fetched.run.parts:
            return None
        batches = list(log_batches(fetched.run.parts))
        locked = AcquireAsk(
            member=ask.member,
            until_ms=self._holdings.clock.now_ms() + config.lock_ms,
            records_max=records_max,
            window_max=config.window_max,
            whole_batches=ask.whole_batches,
        )
        state, acquired = acquire(held.state, at, (batch.read(fetched.aborted) for batch in batches), locked)
        held.put(state)
        if not acquired:
            self._wakeups.wake([one.partition])  # nothing in what was read is for readers: look behind it
            return None
        return SharedRecords(parts=_sent(batches, acquired), acquired=tuple(acquired))


def _sent(batches: Sequence[LogBatch], acquired: Sequence[Acquired]) -> list[Bytes]:
    """The batches in which something was locked, and those between them."""
    first, last = acquired[0].first, acquired[-1].last
    return [
        part
        for batch in batches
        if batch.last_offset >= first and batch.header.base_offset <= last
        for part in batch.parts
    ]


async def _outcome(saved: "LakestreamError | asyncio.Future[None]") -> LakestreamError | None:
    if isinstance(saved, LakestreamError):
        return saved
    try:
        await saved
    except LakestreamError as error:
        return error
    return None


@asynccontextmanager
async def _reading(helds: Sequence[HeldShare]) -> AsyncIterator[None]:
    """Always in one order, so that two readers do not wait for each other."""
    async with AsyncExitStack() as stack:
        for held in sorted(helds, key=lambda each: each.key):
            await stack.enter_async_context(held.reading)
        yield

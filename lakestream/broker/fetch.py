"""Fetch: returns batches from an offset on, and waits for more if there are too few.

    views (kept, or one fresh read for all) -> enough bytes? -> read spans -> answer
                                             -> else wait for growth, look again

A view may be out of date. So fetch reports an offset as out of range only after a fresh read. An object missing behind
a view means that its records have moved: look again, then fail loudly.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lakestream.broker.losses import Losses
from lakestream.broker.wakeups import Wakeups
from lakestream.model.errors import (
    LakestreamError,
    ObjectMissing,
    OffsetOutOfRange,
    SegmentLost,
    UnknownPartition,
)
from lakestream.model.place import PartitionView, Tail
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import AbortedRange
from lakestream.storage.index.index import Index
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.reader import DEFAULT_ENCODING
from lakestream.world.clock import Clock

NOTHING = Run([], 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAsk:
    partition: PartitionId
    offset: int
    bytes_max: int
    encoding: Encoding = DEFAULT_ENCODING
    """The encoding of records from a table, which includes the topic's `compression.type`."""
    committed: bool = False
    """Whether the reader wants records of committed transactions only. It filters by itself; it gets what it needs for
    that, and nothing from the first open transaction on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer to one ask, in the same position. If `error` is set, the other fields mean nothing."""

    tail: Tail | None = None
    run: Run = NOTHING
    error: LakestreamError | None = None
    aborted: tuple[AbortedRange, ...] = ()
    """The aborted transactions among the batches, for a reader of committed records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """The client's limits: wait up to `wait_seconds` for `bytes_min` in total, send at most `bytes_max`."""

    bytes_min: int
    bytes_max: int
    wait_seconds: float


@dataclass(slots=True)
class _Look:
    """One look at all partitions of a request."""

    views: list[PartitionView | LakestreamError]
    bytes: int = 0
    failed: bool = False


class FetchMetrics(Protocol):
    def fetched(self, *, bytes: int, records: int) -> None: ...


class Fetching:
    def __init__(self, index: Index, reader: LogReader, wakeups: Wakeups, clock: Clock, metrics: FetchMetrics) -> None:
        self._index = index
        self._reader = reader
        self._wakeups = wakeups
        self._clock = clock
        self.losses = Losses(clock)
        self._metrics = metrics

    async def fetch(self, asks: Sequence[FetchAsk], limits: FetchLimits) -> list[Fetched]:
        look = await self._look(asks)
        if not self._is_enough(look, limits) and limits.wait_seconds > 0:
            look = await self._wait(asks, limits)
        return await self._read(asks, look, limits.bytes_max)

    async def _wait(self, asks: Sequence[FetchAsk], limits: FetchLimits) -> _Look:
        deadline = self._clock.monotonic() + limits.wait_seconds
        while True:
            waiter = self._wakeups.expect(ask.partition for ask in asks)
            try:
                look = await self._look(asks)
                remaining = deadline - self._clock.monotonic()
                if self._is_enough(look, limits) or remaining <= 0:
                    return look
                await waiter.wait(self._clock, remaining)
            finally:
                self._wakeups.done(waiter)

    def _is_enough(self, look: _Look, limits: FetchLimits) -> bool:
        return look.failed or look.bytes >= limits.bytes_min

    async def _look(self, asks: Sequence[FetchAsk]) -> _Look:
        look = _Look(views=await self._views(asks))
        for ask, view in zip(asks, look.views, strict=True):
            if isinstance(view, LakestreamError):
                look.failed = True
            else:
                look.bytes += min(sum(span.length for span in view.spans), ask.bytes_max)
        return look

    async def _views(self, asks: Sequence[FetchAsk]) -> list[PartitionView | LakestreamError]:
        """Use kept views where they suffice. All others are requested together, and so share one read."""
        kept = [self._kept(ask) for ask in asks]
        missing = [ask for ask, view in zip(asks, kept, strict=True) if view is None]
        fresh = iter(await asyncio.gather(*map(self._fresh, missing)) if missing else ())
        return [view if view is not None else next(fresh) for view in kept]

    def _kept(self, ask: FetchAsk) -> PartitionView | None:
        kept = self._index.kept(ask.partition, ask.offset)
        if kept is None or ask.offset < kept.tail.log_start:
            return None
        if ask.committed and kept.tail.unstable_from is not None:
            return _stable(kept, ask.offset) if ask.offset < kept.tail.last_stable else None
        return kept

    async def _fresh(self, ask: FetchAsk) -> PartitionView | LakestreamError:
        try:
            view = await self._index.fresh(ask.partition, ask.offset)
        except LakestreamError as error:
            return error
        if view is None:
            return UnknownPartition("the partition was deleted")
        if not view.tail.log_start <= ask.offset <= view.tail.next_offset:
            return OffsetOutOfRange(
                f"offset {ask.offset} is outside [{view.tail.log_start}, {view.tail.next_offset}] of the partition"
            )
        return _stable(view, ask.offset) if ask.committed and view.tail.unstable_from is not None else view

    async def _read(self, asks: Sequence[FetchAsk], look: _Look, bytes_max: int) -> list[Fetched]:
        """Read in the requested order, for fairness: the first partitions may use up the request's bytes."""
        fetched: list[Fetched] = []
        remaining = bytes_max
        sent_any = False
        for ask, view in zip(asks, look.views, strict=True):
            if isinstance(view, LakestreamError):
                fetched.append(Fetched(error=view))
                continue
            if not view.spans or remaining <= 0:
                fetched.append(Fetched(tail=view.tail))
                continue
            answer = await self._read_one(ask, view, min(remaining, ask.bytes_max), at_least_one=not sent_any)
            fetched.append(answer)
            if answer.error is not None:
                self.losses.met(ask.partition, ask.offset, answer.error)
            if answer.run.bytes:
                self.losses.read(ask.partition, ask.offset, answer.run.next_offset)
                self._metrics.fetched(bytes=answer.run.bytes, records=answer.run.next_offset - ask.offset)
            remaining -= answer.run.bytes
            sent_any = sent_any or answer.run.bytes > 0
        return fetched

    async def _read_one(self, ask: FetchAsk, view: PartitionView, bytes_max: int, *, at_least_one: bool) -> Fetched:
        try:
            run = await self._run(ask, view, bytes_max, at_least_one=at_least_one)
            return Fetched(tail=view.tail, run=run, aborted=_aborted(ask, view, run))
        except ObjectMissing:
            return await self._read_moved(ask, bytes_max, at_least_one=at_least_one)
        except LakestreamError as error:
            return Fetched(error=error)

    async def _run(self, ask: FetchAsk, view: PartitionView, bytes_max: int, *, at_least_one: bool) -> Run:
        until = view.tail.last_stable if ask.committed and view.tail.unstable_from is not None else None
        return await self._reader.read(
            view, ask.offset, bytes_max, at_least_one=at_least_one, encoding=ask.encoding, until=until
        )

    async def _read_moved(self, ask: FetchAsk, bytes_max: int, *, at_least_one: bool) -> Fetched:
        """The object was deleted under us. The index knows the new place, or that the records are gone."""
        self._index.forget(ask.partition)
        view = await self._fresh(ask)
        if isinstance(view, LakestreamError):
            return Fetched(error=view)
        try:
            run = await self._run(ask, view, bytes_max, at_least_one=at_least_one)
            return Fetched(tail=view.tail, run=run, aborted=_aborted(ask, view, run))
        except ObjectMissing as error:
            return Fetched(
                error=SegmentLost(f"records from offset {ask.offset} on cannot be read: {error}. Restore the object")
            )
        except LakestreamError as error:
            return Fetched(error=error)


def _stable(view: PartitionView, offset: int) -> PartitionView:
    """The view without the spans that lie wholly in open transactions or behind them."""
    last_stable = view.tail.last_stable
    stable = () if offset >= last_stable else tuple(span for span in view.spans if span.base_offset < last_stable)
    return view._replace(spans=stable)


def _aborted(ask: FetchAsk, view: PartitionView, run: Run) -> tuple[AbortedRange, ...]:
    """The aborted transactions that have batches in the run. One whose marker the reader has passed must not be among
    them: the reader would drop what its producer wrote since."""
    if not ask.committed or not view.aborted:
        return ()
    return tuple(
        each for each in view.aborted if each.last_offset >= ask.offset and each.first_offset < run.next_offset
    )

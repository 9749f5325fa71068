"""The flusher decides when to seal the open segment, and makes its batches durable and visible in three steps.

    append -> (full | lingered | put credit) -> seal -> upload -> commit -> answer
           -> (small, nothing under way)     -> seal ----------> commit with its bytes -> answer

A small flush may be inline: its bytes ride in the transaction that gives them offsets, so there is no object to wait
for. It is made as soon as no other flush is under way; what comes meanwhile goes with the next one.

Up to `uploads_max` segments are uploaded at once. Commits follow in flush order, each only after the fate of its
predecessor is known. Until the commit nothing is visible; after it nothing can undo it. When an answer is lost, the
flusher asks again: the store keeps the one fate of every segment.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerLease
from lakestream.model.configs.profile import Profile
from lakestream.model.errors import (
    Fenced,
    LakestreamError,
    ObjectExists,
    Overloaded,
    SegmentAbandoned,
    StoreUnavailable,
    Unavailable,
)
from lakestream.model.place import inline_id
from lakestream.model.segment import Abandoned, BatchResult, BatchStatus, Committed, SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId
from lakestream.storage.cache.segment_cache import CachedExtent, SegmentCache
from lakestream.storage.index.index import Index
from lakestream.storage.wal.batch import Pending, WalBatch
from lakestream.storage.wal.buffer import Sealed, SegmentBuffer, bytes_of, seal, seal_inline
from lakestream.storage.wal.credit import PutCredit
from lakestream.storage.wal.held_bytes import HeldBytes
from lakestream.storage.wal.inline_budget import InlineBudget, InlineLimits
from lakestream.storage.wal.receipts import Receipts
from lakestream.storage.wal.segment import segment_key
from lakestream.storage.wal.spans import stored_spans, unstable_offsets
from lakestream.storage.wal.trouble import Trouble
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks

RETRY_SECONDS_FIRST = 0.05
RETRY_SECONDS_MAX = 2.0
LINGER_SECONDS_MAX = 2.0
CLOSING_POLL_SECONDS = 0.005
TIMER_SECONDS_MIN = 1e-6
"""Shorter waits are not worth a timer, and may be too short for a clock to notice."""
_PARKABLE = (BatchStatus.OUT_OF_ORDER, BatchStatus.UNKNOWN_PRODUCER)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalLimits:
    """When a segment is flushed, and how long anything may take."""

    segment_bytes: int = 8 * 1024 * 1024
    linger_seconds: float = 0.25
    puts_per_second: float = 50.0
    uploads_max: int = 4
    upload_seconds_max: float = 30.0
    commit_seconds_max: float = 30.0
    park_seconds_max: float = 2.0
    """How long an out-of-sequence batch waits for its predecessor to come in through another broker."""
    park_retry_seconds: float = 0.05
    receipt_idle_seconds: float = 1.0
    inline: InlineLimits = field(default_factory=InlineLimits)
    held_bytes_max: int = 256 * 1024 * 1024
    """Bytes of batches not yet answered, on all lanes. While a store is away producers give up waiting, but their
    batches stay until their fate is known: above this, new ones are refused."""


class FlushMetrics(Protocol):
    def flushed(
        self,
        *,
        profile: Profile,
        bytes: int,
        batches: int,
        records: int,
        put_seconds: float | None,
        commit_seconds: float,
    ) -> None:
        """`put_seconds` is None for an inline flush."""

    def inline_refused(self, why: str) -> None:
        """A small flush went to an object, because the budget of inline bytes is used up."""

    def flush_failed(self) -> None: ...


class Wal:
    """One WAL store of one broker."""

    def __init__(
        self,
        *,
        objects: ObjectStore,
        store: MetadataStore,
        index: Index,
        cache: SegmentCache,
        lease: Callable[[], BrokerLease],
        cluster_id: str,
        limits: WalLimits,
        clock: Clock,
        ids: Ids,
        tasks: Tasks,
        metrics: FlushMetrics,
        on_stored: Callable[[Sequence[PartitionId]], None],
        held: HeldBytes,
        inline: InlineBudget | None,
        profile: Profile,
    ) -> None:
        """`inline`: small flushes ride with their offsets while this budget allows it. `profile`: that of the topics
        on this lane."""
        self._objects = objects
        self._store = store
        self._index = index
        self._cache = cache
        self._lease = lease
        self._cluster_id = cluster_id
        self._limits = limits
        self._clock = clock
        self._ids = ids
        self._tasks = tasks
        self._metrics = metrics
        self._on_stored = on_stored
        self._held = held
        self._inline = inline
        self._profile = profile
        self._at_once = profile is Profile.FAST
        """Flushes wait for nothing but the one under way."""
        self._buffer = SegmentBuffer()
        self._credit = PutCredit(limits.puts_per_second, clock.monotonic())
        self._receipts = Receipts()
        self._trouble = Trouble()
        self._changed = asyncio.Event()
        self._uploading = 0
        self._commit_seconds = 0.0
        self._last_fate: asyncio.Future[None] | None = None
        self._open_fate: asyncio.Future[None] | None = None
        """The fate of the open segment, if somebody waits for it."""
        self._followed: list[asyncio.Future[None]] = []
        """Fates on another lane that the next flush waits for."""
        self._closing = False

    def start(self) -> None:
        self._tasks.spawn(self._run(), name="wal-flusher")

    def append(self, batch: WalBatch) -> "asyncio.Future[BatchResult]":
        """Take the batch into the open segment. The future resolves to the batch's result."""
        answer: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
        if self._closing:
            answer.set_exception(StoreUnavailable("the broker is shutting down; another one will take the batch"))
            return answer
        if not self._held.take(len(batch.data)):
            answer.set_exception(Overloaded("too many batches wait to become durable; try again in a moment"))
            return answer
        was_empty = self._buffer.oldest() is None
        self._buffer.add(Pending(batch=batch, answer=answer, buffered_at=self._clock.monotonic()))
        if was_empty or self._buffer.bytes >= self._limits.segment_bytes:
            self._changed.set()
        return answer

    def settled(self) -> "asyncio.Future[None] | None":
        """Done when all that was appended up to now has its fate. None: it has."""
        if self._buffer.oldest() is None:
            return self._last_fate if self._uploading else None
        if self._open_fate is None:
            self._open_fate = asyncio.get_running_loop().create_future()
        return self._open_fate

    def follow(self, fate: "asyncio.Future[None]") -> None:
        """Commit nothing that is appended from now on before this is done. What was appended earlier is flushed now:
        the other lane may be waiting for it, and the two would wait for each other."""
        if self._buffer.oldest() is not None:
            self._flush()
        self._followed.append(fate)

    async def close(self) -> None:
        """Flush what is buffered, wait until every batch has its answer, and leave the receipts behind."""
        self._closing = True
        self._changed.set()
        await self._answered()
        if self._receipts.oldest() is not None:
            self._flush()
            await self._answered()

    async def _answered(self) -> None:
        while self._buffer.oldest() is not None or self._buffer.next_retry() is not None or self._uploading:
            await self._clock.sleep(CLOSING_POLL_SECONDS)

    # --- when ------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            wait = self._seconds_until_flush()
            if wait is not None and wait < TIMER_SECONDS_MIN:
                self._flush()
            else:
                await self._wait_for_change(wait)

    async def _wait_for_change(self, seconds: float | None) -> None:
        """Wait until something was appended or finished, or `seconds` have passed."""
        self._changed.clear()
        if seconds is None:
            await self._changed.wait()
            return
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        timer.add_done_callback(self._time_is_up)
        try:
            await self._changed.wait()
        finally:
            timer.cancel()

    def _time_is_up(self, timer: "asyncio.Task[None]") -> None:
        # A timer that was cancelled must not end the next wait: that wait would cancel its own, and so on for ever.
        if not timer.cancelled():
            self._changed.set()

    def _seconds_until_flush(self) -> float | None:
        """0: now. None: nothing to flush, no upload slot, or a flush under way to wait for, so wait for a change."""
        if self._uploading >= self._limits.uploads_max:
            return None
        now = self._clock.monotonic()
        waits = []
        if (oldest := self._buffer.oldest()) is not None:
            if self._closing or self._buffer.bytes >= self._limits.segment_bytes:
                return 0.0
            if not self._uploading and (self._at_once or self._may_be_inline(self._buffer.bytes)):
                return 0.0
            if not self._at_once:
                waits.append(min(oldest + self._linger() - now, self._credit.available_in(now)))
        if (retry := self._buffer.next_retry()) is not None:
            waits.append(retry - now)
        if not self._uploading and (receipted := self._receipts.oldest()) is not None:
            waits.append(receipted + self._limits.receipt_idle_seconds - now)
        return min(waits, default=None)

    def _linger(self) -> float:
        """The linger time, longer while commits are slow: flushing faster than they finish only queues."""
        return min(max(self._limits.linger_seconds, 2 * self._commit_seconds), LINGER_SECONDS_MAX)

    # --- one flush -------------------------------------------------------------------------------

    def _flush(self) -> None:
        now, lease = self._clock.monotonic(), self._lease()
        sealed = self._seal(self._buffer.take(now), lease, now)
        fate = self._open_fate or asyncio.get_running_loop().create_future()
        predecessors = [*self._followed, *(() if self._last_fate is None else (self._last_fate,))]
        self._last_fate, self._open_fate, self._followed = fate, None, []
        self._uploading += 1
        self._tasks.spawn(self._carry_through(sealed, lease, predecessors, fate), name=f"flush-{sealed.segment}")

    def _seal(self, pending: Sequence[Pending], lease: BrokerLease, now: float) -> Sealed:
        size = bytes_of(pending)
        if self._inline is not None and self._inline.fits(size) and not self._owes_receipts(now):
            if (refusal := self._inline.refusal(size)) is None:
                self._inline.spend(size)
                return seal_inline(pending, segment=inline_id(self._ids.ulid()), created_ms=self._clock.wall_ms())
            self._metrics.inline_refused(refusal)
        self._credit.spend(now)
        return seal(
            pending,
            self._receipts.take(),
            segment=self._ids.ulid(),
            cluster_id=self._cluster_id,
            broker_id=lease.broker_id,
            created_ms=self._clock.wall_ms(),
        )

    def _may_be_inline(self, size: int) -> bool:
        return self._inline is not None and self._inline.fits(size) and self._inline.refusal(size) is None

    def _owes_receipts(self, now: float) -> bool:
        """Whether receipts have waited for their time: an inline segment has no footer for them."""
        oldest = self._receipts.oldest()
        return oldest is not None and oldest + self._limits.receipt_idle_seconds <= now

    async def _carry_through(
        self,
        sealed: Sealed,
        lease: BrokerLease,
        predecessors: Sequence["asyncio.Future[None]"],
        fate: "asyncio.Future[None]",
    ) -> None:
        try:
            failure, put_seconds = (None, 0.0) if sealed.is_inline else await self._upload(sealed)
            for predecessor in predecessors:
                if not predecessor.done():
                    await predecessor
            if failure is None:
                await self._commit(sealed, lease, put_seconds)
            else:
                await self._give_up(sealed, failure)
        finally:
            fate.set_result(None)
            self._uploading -= 1
            self._changed.set()

    async def _upload(self, sealed: Sealed) -> tuple[LakestreamError | None, float]:
        """Put the object, with retries. Returns the error if it failed, and how long it took."""
        key, started = segment_key(sealed.segment), self._clock.monotonic()
        deadline, pause = started + self._limits.upload_seconds_max, RETRY_SECONDS_FIRST
        parts = sealed.parts
        while True:
            try:
                await self._objects.put(key, parts)
                return None, self._clock.monotonic() - started
            except ObjectExists:
                return None, self._clock.monotonic() - started  # ours: an earlier try whose answer was lost
            except Unavailable as error:
                self._trouble.met(error)
                if self._clock.monotonic() + pause > deadline:
                    return error, 0.0
                await self._clock.sleep(pause)
                pause = min(2 * pause, RETRY_SECONDS_MAX)
            except LakestreamError as error:
                return error, 0.0

    async def _commit(self, sealed: Sealed, lease: BrokerLease, put_seconds: float) -> None:
        started = self._clock.monotonic()
        try:
            fate = await self._ask_fate(sealed, lease)
        except LakestreamError as error:
            await self._give_up(sealed, error)
            return
        commit_seconds = self._clock.monotonic() - started
        self._commit_seconds += 0.2 * (commit_seconds - self._commit_seconds)
        if isinstance(fate, Abandoned):
            self._refuse(sealed, SegmentAbandoned(f"segment {sealed.segment} was given up before it was committed"))
            return
        self._stored(sealed, fate.results)
        self._trouble.is_over()
        self._metrics.flushed(
            profile=self._profile,
            bytes=sealed.bytes,
            batches=len(sealed.batches),
            records=_stored_records(sealed, fate.results),
            put_seconds=None if sealed.is_inline else put_seconds,
            commit_seconds=commit_seconds,
        )

    async def _ask_fate(self, sealed: Sealed, lease: BrokerLease) -> SegmentFate:
        """Commit, repeating while the store does not answer: it knows whether an earlier try succeeded.

        The lease is the one under which the segment was sealed, not a later one: a broker that slept past its lease
        must not commit what it held, even after it has registered again.
        """
        commit = SegmentCommit(
            segment=sealed.segment,
            broker_id=lease.broker_id,
            incarnation=lease.incarnation,
            bytes=0 if sealed.is_inline else sealed.bytes,
            batches=sealed.batches,
            inline=b"".join(sealed.content) if sealed.is_inline else None,
            receipts=sorted({receipt.segment for receipt in sealed.receipts}),
        )
        deadline, pause = self._clock.monotonic() + self._limits.commit_seconds_max, RETRY_SECONDS_FIRST
        while True:
            try:
                return await self._store.commit_segment(commit)
            except Unavailable as error:
                self._trouble.met(error)
                if self._clock.monotonic() + pause > deadline:
                    raise
                await self._clock.sleep(pause)
                pause = min(2 * pause, RETRY_SECONDS_MAX)

    async def _give_up(self, sealed: Sealed, reason: LakestreamError) -> None:
        """Make sure that the segment can never be committed, before any successor may be.

        Producers get their error at once and will retry. Only the store knows whether a commit whose answer was lost
        succeeded, so this waits for the store as long as it takes; without the store this broker can do nothing anyway.
        """
        self._metrics.flush_failed()
        self._trouble.met(reason)
        self._refuse(sealed, reason)
        if isinstance(reason, Fenced):
            return  # the store has refused this incarnation: nothing of it can be committed any more
        pause = RETRY_SECONDS_FIRST
        while True:
            try:
                fate = await self._store.abandon_segment(sealed.segment)
                break
            except LakestreamError:
                await self._clock.sleep(pause)
                pause = min(2 * pause, RETRY_SECONDS_MAX)
        if isinstance(fate, Committed):  # it had succeeded after all: readers and receipts must learn of it
            self._publish(sealed, fate.results)

    # --- answers ---------------------------------------------------------------------------------

    def _refuse(self, sealed: Sealed, reason: LakestreamError) -> None:
        self._receipts.give_back(sealed.receipts, self._clock.monotonic())
        for pending in sealed.pending:
            self._held.give_back(len(pending.batch.data))
            if not pending.answer.done():
                pending.answer.set_exception(reason)
                pending.answer.exception()  # a producer that has gone away does not make this a failure

    def _stored(self, sealed: Sealed, results: Sequence[BatchResult]) -> None:
        """The batches exist: make them known, and tell their producers."""
        self._publish(sealed, results)
        now = self._clock.monotonic()
        for pending, result in zip(sealed.pending, results, strict=True):
            if self._park(pending, result, now):
                continue
            self._held.give_back(len(pending.batch.data))
            if not pending.answer.done():
                pending.answer.set_result(result)

    def _publish(self, sealed: Sealed, results: Sequence[BatchResult]) -> None:
        """Cache the stored batches for readers, note their receipts, and wake waiting fetches."""
        spans = stored_spans(sealed, results)
        if sealed.batches:
            self._cache.put(sealed.segment, CachedExtent(sealed.starts_at, sealed.content))
        unstable = unstable_offsets(sealed, results)
        for partition, run in spans.items():
            self._index.extend(partition, run, unstable.get(partition))
        if not sealed.is_inline:  # the object into which inline bytes are moved has its own receipts
            self._receipts.add(sealed, spans, self._clock.monotonic())
        if spans:
            self._on_stored(list(spans))

    def _park(self, pending: Pending, result: BatchResult, now: float) -> bool:
        """Carry an out-of-sequence batch to a later flush, until its time is up."""
        if result.status not in _PARKABLE or pending.answer.done():
            return False
        first_tried = now if pending.tried_at is None else pending.tried_at
        if now - first_tried >= self._limits.park_seconds_max:
            return False
        pending.tried_at, pending.retry_at = first_tried, now + self._limits.park_retry_seconds
        self._buffer.carry(pending)
        return True


def _stored_records(sealed: Sealed, results: Sequence[BatchResult]) -> int:
    """The number of records that are new in the log: neither repeats nor refused."""
    pairs = zip(sealed.batches, results, strict=True)
    return sum(batch.records for batch, result in pairs if result.status is BatchStatus.STORED)

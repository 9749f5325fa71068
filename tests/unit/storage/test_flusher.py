"""The flusher: batches exist once, in order, however badly the stores behave. Time is real, but short."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from lakestream.metadata.sqlite.opening import open_sqlite
from lakestream.metadata.sqlite.store import SqliteStore
from lakestream.metadata.store import ViewAsk
from lakestream.model.broker import BrokerLease, BrokerSpec
from lakestream.model.configs.profile import Profile
from lakestream.model.errors import BrokerFenced, Overloaded, StorageFull, StoreUnavailable
from lakestream.model.segment import BatchStatus, SegmentCommit, SegmentFate
from lakestream.model.topic import TopicSpec
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.index.index import Index
from lakestream.storage.wal.flusher import Wal, WalLimits
from lakestream.storage.wal.held_bytes import HeldBytes
from lakestream.storage.wal.inline_budget import (
    TOO_MANY_A_SECOND,
    TOO_MANY_AT_REST,
    InlineBudget,
    InlineLimits,
)
from lakestream.storage.wal.segment import WAL_PREFIX, decode_footer
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.faulty import Fault, FaultKind, FaultyObjects, ScriptedFaults
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads
from tests.unit.storage.batches import TOPIC, wal_batch

REFUSED, LOST, FULL = Fault(FaultKind.REFUSED), Fault(FaultKind.LOST_ANSWER), Fault(FaultKind.FULL)


class FaultyCommits:
    """The store, with commits that fail before or after they happen, in the order given."""

    def __init__(self, store: SqliteStore, faults: Sequence[str]) -> None:
        self._store = store
        self._faults = list(faults)
        self.commits: list[SegmentCommit] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit_segment(self, commit: SegmentCommit) -> SegmentFate:
        self.commits.append(commit)
        fault = self._faults.pop(0) if self._faults else ""
        if fault == "refused":
            raise StoreUnavailable("refused")
        fate = await self._store.commit_segment(commit)
        if fault == "lost":
            raise StoreUnavailable("lost")
        return fate


class CountedRecords:
    def __init__(self) -> None:
        self.records = 0

    def flushed(self, *, records: int, **_: object) -> None:
        self.records += records


class Quiet:
    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


@dataclass
class World:
    wal: Wal
    store: SqliteStore
    commits: FaultyCommits
    objects: MemoryObjects
    lease: BrokerLease
    another: Callable[..., Wal]
    """Makes a further lane over the same stores."""
    woken: list[Sequence[int]] = field(default_factory=list)

    async def offsets(self, partition: int) -> list[tuple[int, int]]:
        (view,) = await self.store.views([ViewAsk(partition, 0, 100)])
        assert view is not None
        return [(span.base_offset, span.last_offset) for span in view.spans]


def run(
    story: Callable[[World], Awaitable[None]],
    *,
    puts: Sequence[Fault] = (),
    commits: Sequence[str] = (),
    metrics: object | None = None,
    inline: bool = False,
    at_once: bool = False,
    inline_limits: InlineLimits | None = None,
    **limits: Any,
) -> None:
    async def whole() -> None:
        clock = SystemClock()
        ids = Ids(clock, SeededChance(1))
        failures: list[BaseException] = []
        tasks = Tasks(lambda _, error: failures.append(error))
        store = await open_sqlite("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda _: InlineThreads())
        await store.create_topic(TopicSpec(id=TOPIC, name="t", partitions=3))
        spec = BrokerSpec(id=1, host="h", port=1, rack=None, http="")
        lease = await store.register_broker(spec, 60_000)
        objects, faulty = MemoryObjects(clock), FaultyCommits(store, commits)
        woken: list[Sequence[int]] = []
        usual = {"puts_per_second": 1000.0, "receipt_idle_seconds": 60.0, "inline": inline_limits or InlineLimits()}
        wal_limits = WalLimits(**usual | limits)
        lane = partial(
            Wal,
            objects=FaultyObjects(objects, clock=clock, faults=ScriptedFaults("put", puts)),
            store=faulty,  # type: ignore[arg-type]
            index=Index(store, clock, tasks),
            cache=SegmentCache(1 << 20, Quiet()),  # type: ignore[arg-type]
            lease=lambda: lease,
            cluster_id="c",
            limits=wal_limits,
            clock=clock,
            ids=ids,
            tasks=tasks,
            metrics=metrics or Quiet(),  # type: ignore[arg-type]
            on_stored=woken.append,
            held=HeldBytes(wal_limits.held_bytes_max),
        )

        def another(*, inline: bool, profile: Profile) -> Wal:
            return lane(inline=InlineBudget(wal_limits.inline, clock) if inline else None, profile=profile)

        wal = another(inline=inline, profile=Profile.FAST if at_once else Profile.DISKLESS)
        wal.start()
        await story(World(wal, store, faulty, objects, lease, another, woken))
        await tasks.close()
        await store.close()
        assert not failures

    asyncio.run(asyncio.wait_for(whole(), 30))


def test_a_batch_is_answered_with_its_offset_and_readers_are_woken() -> None:
    async def story(world: World) -> None:
        first = await world.wal.append(wal_batch(1, 3))
        second = await world.wal.append(wal_batch(1, 2))
        assert (first.status, first.base_offset, second.base_offset) == (BatchStatus.STORED, 0, 3)
        assert world.woken == [[1], [1]]

    run(story)


def test_a_repeated_batch_is_not_counted_twice() -> None:
    counted = CountedRecords()

    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1, 3, producer_id=7, sequence=0))
        again = await world.wal.append(wal_batch(1, 3, producer_id=7, sequence=0))
        assert again.status is BatchStatus.DUPLICATE

    run(story, metrics=counted)
    assert counted.records == 3


def test_many_partitions_of_one_moment_share_one_object_and_one_commit() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1))  # uses up the credit of the idle broker
        answers = [world.wal.append(wal_batch(partition, 2)) for partition in (3, 1, 2, 1)]
        await asyncio.gather(*answers)
        assert len(world.commits.commits) == 2
        assert await world.offsets(1) == [(0, 0), (1, 4)]

    run(story, puts_per_second=0.001, linger_seconds=0.05)


def test_a_full_segment_does_not_wait() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1))
        await asyncio.wait_for(world.wal.append(wal_batch(1, value=b"x" * 5000)), 5)

    run(story, puts_per_second=0.001, linger_seconds=3600.0, segment_bytes=4096)


@pytest.mark.parametrize("faults", [[LOST], [REFUSED, LOST, REFUSED], [LOST, LOST]])
def test_a_put_that_fails_or_whose_answer_is_lost_is_repeated_until_the_object_is_there(faults: list[Fault]) -> None:
    async def story(world: World) -> None:
        assert (await world.wal.append(wal_batch(1))).base_offset == 0
        assert [info.key async for info in world.objects.list(WAL_PREFIX)] != []

    run(story, puts=faults)


@pytest.mark.parametrize("faults", [["lost"], ["refused", "lost"], ["lost", "lost", "refused"]])
def test_a_commit_whose_answer_is_lost_stores_the_batch_once(faults: list[str]) -> None:
    async def story(world: World) -> None:
        first = await world.wal.append(wal_batch(1, 2))
        second = await world.wal.append(wal_batch(1))
        assert (first.base_offset, second.base_offset) == (0, 2)
        assert len({commit.segment for commit in world.commits.commits}) == 2

    run(story, commits=faults)


def test_a_full_disk_refuses_the_batch_at_once_and_the_next_one_gets_through() -> None:
    async def story(world: World) -> None:
        with pytest.raises(StorageFull):
            await world.wal.append(wal_batch(1))
        assert (await world.wal.append(wal_batch(1))).base_offset == 0
        assert len(world.commits.commits) == 1

    run(story, puts=[FULL])


def test_an_upload_that_never_succeeds_is_abandoned_before_its_successor_commits() -> None:
    async def story(world: World) -> None:
        with pytest.raises(StoreUnavailable):
            await world.wal.append(wal_batch(1))
        assert (await world.wal.append(wal_batch(1))).base_offset == 0

    run(story, puts=[REFUSED] * 3, upload_seconds_max=0.12)


def test_what_waits_for_a_store_that_is_away_is_bounded() -> None:
    async def story(world: World) -> None:
        batch = wal_batch(1, value=b"x" * 1000)
        answers = [world.wal.append(batch) for _ in range(5)]
        results = await asyncio.gather(*answers, return_exceptions=True)
        assert [isinstance(result, Overloaded) for result in results] == [False, False, False, True, True]
        assert (await world.wal.append(batch)).base_offset == 3

    run(story, held_bytes_max=3500)


def test_a_fenced_broker_commits_nothing() -> None:
    async def story(world: World) -> None:
        spec = BrokerSpec(id=1, host="h", port=2, rack=None, http="")
        await world.store.register_broker(spec, 60_000)
        with pytest.raises(BrokerFenced):
            await world.wal.append(wal_batch(1))
        assert await world.offsets(1) == []

    run(story)


def test_a_batch_ahead_of_its_predecessor_waits_for_it() -> None:
    async def story(world: World) -> None:
        ahead = world.wal.append(wal_batch(1, 2, producer_id=5, sequence=3))
        await asyncio.sleep(0.15)
        assert not ahead.done()
        first = await world.wal.append(wal_batch(1, 3, producer_id=5, sequence=0))
        assert (first.base_offset, (await ahead).base_offset) == (0, 3)

    run(story)


@pytest.mark.parametrize(("sequence", "status"), [(3, BatchStatus.UNKNOWN_PRODUCER), (0, BatchStatus.STORED)])
def test_a_batch_whose_predecessor_never_comes_is_refused_in_the_end(sequence: int, status: BatchStatus) -> None:
    async def story(world: World) -> None:
        result = await world.wal.append(wal_batch(1, producer_id=5, sequence=sequence))
        assert result.status is status

    run(story, park_seconds_max=0.2)


def test_the_next_segment_carries_the_receipts_of_the_one_before() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1, 2))
        await world.wal.append(wal_batch(2))
        footers = [decode_footer(await world.objects.get(i.key)) async for i in world.objects.list(WAL_PREFIX)]
        footers.sort(key=lambda footer: footer.segment)
        assert footers[0].receipts == ()
        (receipt,) = footers[1].receipts
        assert (receipt.segment, receipt.base_offset, receipt.records) == (footers[0].segment, 0, 2)
        assert world.commits.commits[1].receipts == [footers[0].segment]

    run(story)


def test_a_commit_that_had_got_through_before_it_was_given_up_is_published_and_receipted() -> None:
    async def story(world: World) -> None:
        with pytest.raises(StoreUnavailable):
            await world.wal.append(wal_batch(1, 2))
        while [1] not in world.woken:  # given up, and found committed
            await asyncio.sleep(0)
        assert (await world.wal.append(wal_batch(2))).base_offset == 0
        assert world.commits.commits[-1].receipts == [world.commits.commits[0].segment]

    run(story, commits=["lost"], commit_seconds_max=0.0)


def test_a_wait_that_was_cut_short_does_not_cut_the_next_one_short() -> None:
    """It did, each time anew: a broker with a batch or a receipt waiting took a whole core."""

    async def story(world: World) -> None:
        looks = 0
        seconds_until_flush = world.wal._seconds_until_flush

        def counted() -> float | None:
            nonlocal looks
            looks += 1
            return seconds_until_flush()

        world.wal._seconds_until_flush = counted  # type: ignore[method-assign]
        first = world.wal.append(wal_batch(1))  # uses up the credit
        while not world.wal._uploading:
            await asyncio.sleep(0)
        second = world.wal.append(wal_batch(1))  # lingers; the end of the first upload cuts that wait short
        await asyncio.gather(first, second)
        assert looks < 20

    run(story, puts_per_second=0.001, linger_seconds=0.2)


def test_an_idle_broker_writes_its_last_receipts() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1))
        async with asyncio.timeout(10):
            while len(world.commits.commits) < 2:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)  # one that has written them has no more to write
        assert [len(commit.batches) for commit in world.commits.commits] == [1, 0]

    run(story, receipt_idle_seconds=0.1)


def test_closing_answers_everything_and_refuses_what_comes_after() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1))
        waiting = [world.wal.append(wal_batch(1)) for _ in range(3)]
        await world.wal.close()
        assert [answer.result().base_offset for answer in waiting] == [1, 2, 3]
        with pytest.raises(StoreUnavailable):
            await world.wal.append(wal_batch(1))

    run(story, puts_per_second=0.001, linger_seconds=3600.0)


# --- inline flushes ----------------------------------------------------------------------------------


async def objects_of(world: World) -> list[str]:
    return [info.key async for info in world.objects.list(WAL_PREFIX)]


def test_a_small_flush_rides_with_its_offsets_and_waits_for_no_credit() -> None:
    async def story(world: World) -> None:
        for number in range(20):
            assert (await world.wal.append(wal_batch(1))).base_offset == number
        assert await objects_of(world) == []
        assert await world.store.inline.read([commit.segment for commit in world.commits.commits]) == {
            commit.segment: commit.inline for commit in world.commits.commits
        }

    run(story, inline=True, puts_per_second=0.001, linger_seconds=3600.0)


def test_what_comes_while_a_flush_is_under_way_goes_with_the_next_one() -> None:
    async def story(world: World) -> None:
        first = world.wal.append(wal_batch(1))
        while not world.wal._uploading:
            await asyncio.sleep(0)
        answers = [world.wal.append(wal_batch(partition)) for partition in (1, 2, 1)]
        await asyncio.gather(first, *answers)
        assert [len(commit.batches) for commit in world.commits.commits] == [1, 3]

    run(story, inline=True, at_once=True)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_flush_above_the_bound_goes_to_an_object(at_once: bool) -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1, value=b"x" * 2000))
        assert len(await objects_of(world)) == 1
        assert world.commits.commits[0].inline is None

    run(story, inline=True, at_once=at_once, inline_limits=InlineLimits(flush_bytes_max=1000))


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (InlineLimits(bytes_per_second=1), TOO_MANY_A_SECOND),
        (InlineLimits(at_rest_bytes_max=1), TOO_MANY_AT_REST),
    ],
)
def test_above_the_budget_small_flushes_go_to_objects_and_that_is_counted(limits: InlineLimits, why: str) -> None:
    refused: list[str] = []

    class Counting(Quiet):
        def inline_refused(self, why: str) -> None:
            refused.append(why)

    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1))
        assert len(await objects_of(world)) == 1

    run(story, inline=True, at_once=True, inline_limits=limits, metrics=Counting())
    assert refused == [why]


@pytest.mark.parametrize("faults", [["lost"], ["refused", "lost"], ["lost", "lost", "refused"]])
def test_an_inline_commit_whose_answer_is_lost_stores_the_batch_once(faults: list[str]) -> None:
    async def story(world: World) -> None:
        first = await world.wal.append(wal_batch(1, 2))
        second = await world.wal.append(wal_batch(1))
        assert (first.base_offset, second.base_offset) == (0, 2)
        assert (await world.store.inline.at_rest()).segments == 2

    run(story, commits=faults, inline=True)


def test_an_inline_flush_leaves_receipts_waiting_until_they_are_due() -> None:
    async def story(world: World) -> None:
        await world.wal.append(wal_batch(1, value=b"x" * 2000))
        await world.wal.append(wal_batch(1))
        assert [len(commit.receipts) for commit in world.commits.commits] == [0, 0]
        async with asyncio.timeout(10):
            while len(world.commits.commits) < 3:
                await asyncio.sleep(0.01)
        assert world.commits.commits[2].receipts == [world.commits.commits[0].segment], "the inline one has none"

    run(story, inline=True, inline_limits=InlineLimits(flush_bytes_max=1000), receipt_idle_seconds=0.1)

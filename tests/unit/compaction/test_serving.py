"""Who works, who stands by, and when a process gives up."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lakestream.model.errors import StoreUnavailable
from lakestream.model.job import CompactionLease
from lakestream.table.clustering.clustering import NOTHING as NOTHING_CLUSTERED
from lakestream.table.clustering.clustering import ClusterRound
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.lease import RENEWALS_PER_TTL, STANDBY_SECONDS_MAX, LeaseKeeper
from lakestream.table.merging.merging import NOTHING, MergeRound
from lakestream.table.pipeline import IDLE, Pipeline, Round
from lakestream.table.serving import (
    ENGINE_FAILURES_MAX,
    REQUEST_LOOKS,
    SWEEP_SECONDS,
    SWEEP_SECONDS_MAX,
    UPKEEP_SECONDS,
    run_rounds,
)
from tests.unit.compaction.site import TTL_MS, Site, rows, run


class Enough(Exception):
    """The test has seen what it wanted."""


class SteppingClock:
    """Time passes only where someone sleeps; after a while the test ends."""

    def __init__(self, sleeps: int) -> None:
        self.slept: list[float] = []
        self._left = sleeps
        self.now = 0.0

    def allow(self, sleeps: int) -> None:
        self._left = sleeps

    def wall_ms(self) -> int:
        return int(self.now * 1000)

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self._left -= 1
        if self._left <= 0:
            raise Enough
        await asyncio.sleep(0)


class Scripted:
    """A pipeline whose rounds are told beforehand."""

    def __init__(self, *script: Round | Exception) -> None:
        self._script = list(script)
        self.rounds = 0
        self.sweeps = 0
        self.merges: list[int] = []
        """How many rounds there had been at each of them."""
        self.upkeeps = 0
        self.requests: list[bool] = []

    async def round(self, lease: CompactionLease) -> Round:
        self.rounds += 1
        step = self._script.pop(0) if self._script else IDLE
        if isinstance(step, Exception):
            raise step
        return step

    async def has_new_requests(self) -> bool:
        return self.requests.pop(0) if self.requests else False

    async def merge(self, lease: CompactionLease) -> MergeRound:
        self.merges.append(self.rounds)
        return NOTHING

    async def cluster(self, lease: CompactionLease) -> ClusterRound:
        return NOTHING_CLUSTERED

    async def rebuild(self, lease: CompactionLease) -> bool:
        return False

    async def upkeep(self) -> None:
        self.upkeeps += 1

    async def sweep(self) -> None:
        self.sweeps += 1


class Held:
    def __init__(self, held: bool) -> None:
        self._held = held

    def held(self) -> CompactionLease | None:
        return CompactionLease(holder="a", token=1, ttl_ms=1) if self._held else None


def serve(
    pipeline: Scripted,
    clock: SteppingClock,
    *,
    held: bool = True,
    expecting: type[Exception] = Enough,
    tidy: Callable[[], None] = lambda: None,
) -> None:
    some: Any = pipeline
    lease: Any = Held(held)
    with pytest.raises(expecting):
        asyncio.run(run_rounds(some, lease, clock, tidy=tidy))


WORKED = Round(1, 0, 100)


def test_rounds_follow_at_once_while_there_is_something_to_do() -> None:
    pipeline, clock = Scripted(WORKED, WORKED, WORKED), SteppingClock(1)
    serve(pipeline, clock)
    assert (pipeline.rounds, len(clock.slept)) == (4, 1)


def test_files_are_merged_after_each_round_and_not_without_the_lease() -> None:
    pipeline = Scripted(WORKED, WORKED)
    serve(pipeline, SteppingClock(1))
    assert pipeline.merges == [1, 2, 3]
    standby = Scripted(WORKED)
    serve(standby, SteppingClock(1), held=False)
    assert standby.merges == []


def test_a_request_ends_a_rest_early() -> None:
    pipeline, clock = Scripted(), SteppingClock(3)
    pipeline.requests = [False, True]
    serve(pipeline, clock)
    assert (pipeline.rounds, len(clock.slept)) == (2, 3)
    pipeline, clock = Scripted(), SteppingClock(REQUEST_LOOKS + 1)
    serve(pipeline, clock)
    assert pipeline.rounds == 2, "without one it is as long as ever"


def test_a_process_tidies_up_after_rounds_that_committed_something() -> None:
    pipeline, rounds_before = Scripted(WORKED, IDLE, WORKED), list[int]()
    serve(pipeline, SteppingClock(1 + REQUEST_LOOKS), tidy=lambda: rounds_before.append(pipeline.rounds))
    assert rounds_before == [1, 3]


def test_without_the_lease_nothing_is_done() -> None:
    pipeline = Scripted(WORKED)
    serve(pipeline, SteppingClock(5), held=False)
    assert (pipeline.rounds, pipeline.sweeps) == (0, 0)


def test_a_store_that_is_away_is_asked_again_ever_more_seldom() -> None:
    clock = SteppingClock(6)
    serve(Scripted(*[StoreUnavailable("away")] * 5), clock)
    assert clock.slept[:5] == sorted(clock.slept[:5])
    assert clock.slept[4] > 8 * clock.slept[0]
    assert clock.slept[5] < clock.slept[0], "once it answers, all is as before"


def test_an_engine_that_fails_again_and_again_ends_the_process() -> None:
    pipeline = Scripted(*[RewriteFailed("Spark is gone")] * 10)
    serve(pipeline, SteppingClock(50), expecting=RewriteFailed)
    assert pipeline.rounds == ENGINE_FAILURES_MAX


def test_a_single_failure_of_the_engine_is_forgiven() -> None:
    failure = RewriteFailed("a worker died")
    pipeline = Scripted(failure, WORKED, failure, WORKED, failure, WORKED)
    serve(pipeline, SteppingClock(5))


def test_leftovers_are_swept_at_the_first_rest_and_then_now_and_then() -> None:
    clock = SteppingClock(int(3.5 * SWEEP_SECONDS / 0.5) * REQUEST_LOOKS)
    pipeline = Scripted()
    serve(pipeline, clock)
    assert pipeline.sweeps == 1 + 3


def test_a_pipeline_that_never_rests_sweeps_all_the_same() -> None:
    clock = SteppingClock(1)

    class Busy(Scripted):
        async def round(self, lease: CompactionLease) -> Round:
            clock.now += 10
            return await super().round(lease)

    pipeline = Busy(*[WORKED] * int(2.5 * SWEEP_SECONDS_MAX / 10))
    serve(pipeline, clock)
    assert pipeline.sweeps == 2 + 1, "the last one at the rest that follows"


@pytest.mark.parametrize("held", [True, False])
def test_tables_are_kept_up_by_whoever_holds_the_lease(held: bool) -> None:
    pipeline = Scripted()
    serve(pipeline, SteppingClock(int(3.5 * UPKEEP_SECONDS / 0.5) * REQUEST_LOOKS), held=held)
    assert pipeline.upkeeps == (3 if held else 0)


# --- the lease ---------------------------------------------------------------------------------------


def with_keepers(work: Callable[[Site, LeaseKeeper, LeaseKeeper], Any]) -> None:
    async def scenario(site: Site) -> None:
        keepers = [LeaseKeeper(site.store, holder=name, clock=site.clock, ttl_ms=TTL_MS) for name in "ab"]
        await work(site, *keepers)

    run(scenario)


def test_of_two_pipelines_one_works_and_the_other_stands_by() -> None:
    async def work(site: Site, one: LeaseKeeper, other: LeaseKeeper) -> None:
        await one.claim()
        await other.claim()
        assert one.held() is not None
        assert other.held() is None
        await one.leave()
        assert one.held() is None
        await other.claim()
        assert other.held() is not None

    with_keepers(work)


def test_a_lease_is_believed_in_for_no_longer_than_its_time() -> None:
    async def scenario(site: Site) -> None:
        clock = SteppingClock(100)
        keeper = LeaseKeeper(site.store, holder="a", clock=clock, ttl_ms=10_000)
        await keeper.claim()
        clock.now = 9.9
        assert keeper.held() is not None
        clock.now = 10.1
        assert keeper.held() is None

    run(scenario)


def test_one_who_stands_by_notices_within_a_second_that_a_lease_has_run_out() -> None:
    async def scenario(site: Site) -> None:
        await LeaseKeeper(site.store, holder="dead", clock=site.clock, ttl_ms=TTL_MS).claim()
        clock = SteppingClock(3)
        keeper = LeaseKeeper(site.store, holder="successor", clock=clock, ttl_ms=15_000)
        with pytest.raises(Enough):
            await keeper.keep()
        assert clock.slept == [STANDBY_SECONDS_MAX] * 3
        site.clock.ahead_ms += TTL_MS + 1
        clock.allow(1)
        with pytest.raises(Enough):
            await keeper.keep()
        assert keeper.held() is not None
        assert clock.slept[3:] == [15 / RENEWALS_PER_TTL], "held, it is renewed now and then"

    run(scenario)


def test_two_pipelines_at_once_do_the_work_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        for first in range(0, 50, 10):
            await site.produce(topic.partitions[0], rows(10, base=first))
        keepers = [LeaseKeeper(site.store, holder=name, clock=site.clock, ttl_ms=TTL_MS) for name in "ab"]
        pipelines: list[Pipeline] = [site.pipeline(), site.pipeline()]
        for _ in range(3):
            for keeper, pipeline in zip(keepers, pipelines, strict=True):
                await keeper.claim()
                if (held := keeper.held()) is not None:
                    await pipeline.round(held)
            await keepers[0].leave()
            await site.produce(topic.partitions[0], rows(5))
        offsets = [row["__offset"] for row in await site.table(topic)]
        assert offsets == list(range(len(offsets)))
        assert len(offsets) >= 50

    run(scenario)

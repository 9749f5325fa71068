"""A whole run: a world from a seed, its traffic, its storm, its healing, and what must be true afterwards.

open -> storm -> heal -> everyone finishes -> audit -> garbage is gone -> topics are deleted -> nothing is left
"""

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lakestream.metadata.sqlite.opening import open_sqlite
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LEASE_MS_MAX
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

from .admin import Administrator
from .aftermath import Aftermath
from .audit import Audit
from .chaos import Chaos, jump_clocks
from .clocks import WorldClock
from .groups.world import GroupsWorld
from .ledger import Ledger
from .logs import logs_in
from .loop import Stuck, VirtualLoop
from .mixes.choosing import scenario_of
from .scenario import GRACE_MS, Scenario
from .site import Site
from .tables.part import TablesPart
from .trace import Trace
from .traffic import Traffic
from .transactions.world import TransactionsWorld
from .verdict import Verdict
from .witness import Witness

AUDIT_SECONDS = 1.0
LATE_FOLLOWERS_PER_SECOND = 0.05
HEAL_SECONDS_MAX = 120.0
TABLED_SECONDS_MAX = HEAL_SECONDS_MAX + LEASE_MS_MAX / 1000
"""The right to compact may have been given by a clock that was a little ahead, and to one who is dead."""
ZOMBIE_SECONDS = 2.0
"""How long zombies, all awake by then, still have their chance when the storm is over."""
UNDER_WAY_SECONDS = 12.0
"""By then every request that was sent in the storm has arrived, the deletion of a topic included."""
GARBAGE_SECONDS = GRACE_MS / 1000 + 10
"""The grace, and some rounds of all duties."""
SETTLE_SECONDS = 3.0
"""Receipts are written after a second of silence."""
LONG_MS = 8 * 24 * 3_600_000
"""Longer than the fate of an abandoned segment is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    seed: int
    mix: str
    broken: tuple[str, ...]
    digest: str
    tail: tuple[str, ...]
    events: dict[str, int]
    seconds: float
    """Of virtual time."""


def run_seed(seed: int, kind: str = "log", *, keep_all: bool = False) -> Outcome:
    scenario, trace = scenario_of(seed, kind), Trace(keep_all=keep_all)
    verdict = Verdict(trace)
    loop = VirtualLoop(random.Random(f"{seed} order") if scenario.shuffled else None)
    trace.now = loop.time
    gc.collect()
    gc.disable()  # a collection at a moment of its own choosing would close what a run left open, and change it
    try:
        with logs_in(trace):
            loop.run_until_complete(_world_of(scenario)(seed, scenario, loop, trace, verdict).run())
    except Stuck as stuck:
        verdict.breaks("there is always progress", stuck)
    finally:
        loop.abandon()
        gc.enable()
    return Outcome(
        seed=seed,
        mix=scenario.mix,
        broken=tuple(verdict.broken),
        digest=trace.digest(),
        tail=tuple(trace.tail()),
        events=dict(trace.events),
        seconds=loop.time(),
    )


def _world_of(scenario: Scenario) -> "type[World | GroupsWorld | TransactionsWorld]":
    if scenario.transacting is not None:
        return TransactionsWorld
    return World if scenario.grouping is None else GroupsWorld


class World:
    def __init__(self, seed: int, scenario: Scenario, loop: VirtualLoop, trace: Trace, verdict: Verdict) -> None:
        self._seed = seed
        self._scenario = scenario
        self._trace = trace
        self._verdict = verdict
        self._clock = WorldClock(loop)
        self._objects = MemoryObjects(self._clock)
        log_append = {name for name, config in scenario.topics.items() if "LogAppendTime" in config.values()}
        self._ledger = Ledger(verdict, log_append=log_append)
        self._tables: TablesPart | None = None
        self._network = Tasks(on_failure=self._failed)
        self._storm = Tasks(on_failure=self._failed)
        self._clients = Tasks(on_failure=self._failed)
        self._retained = {name for name, config in scenario.topics.items() if "retention" in " ".join(config)}
        self._late = self._rng("late followers")
        self._store: MetadataStore

    async def run(self) -> None:
        await self._open()
        steps: list[Callable[[], Awaitable[None]]] = [
            self._weather_the_storm,
            self._heal,
            self._finish,
            self._judge,
            self._collect_garbage,
            self._delete_everything,
        ]
        for step in steps:
            if not self._verdict.broken:
                self._trace.note("step", step.__name__)
                await step()
        await self._close()

    async def _open(self) -> None:
        ids = Ids(self._clock, SeededChance(self._seed))
        self._store = await open_sqlite(
            "sqlite://:memory:", clock=self._clock, ids=ids, one_thread=lambda _: InlineThreads()
        )
        self._witness = Witness(self._store, self._objects, self._clock, self._verdict, self._trace)
        self._ledger.know_deletions(self._witness.deletions_asked)
        self._audit = Audit(self._store, self._objects, self._verdict, self._witness.deletions_asked, self._retained)
        self._site = Site(
            scenario=self._scenario,
            store=self._store,
            objects=self._objects,
            clock=self._clock,
            witness=self._witness,
            network=self._network,
            trace=self._trace,
            verdict=self._verdict,
            rng=self._rng("site"),
        )
        self._administrator = Administrator(
            self._scenario.topics,
            self._scenario.partitions,
            site=self._site,
            store=self._store,
            retained=self._retained,
            trace=self._trace,
            rng=self._rng("administrator"),
        )
        self._traffic = Traffic(
            self._scenario,
            site=self._site,
            store=self._store,
            ledger=self._ledger,
            verdict=self._verdict,
            clock=self._clock,
            trace=self._trace,
            tasks=self._clients,
            rng=self._rng,
        )
        if self._scenario.tabling is not None:
            self._tables = TablesPart(
                self._scenario.tabling,
                store=self._store,
                objects=self._objects,
                witness=self._witness,
                ledger=self._ledger,
                clock=self._clock,
                network=self._network,
                trace=self._trace,
                verdict=self._verdict,
                rng=self._rng,
            )
        self._site.open()
        await self._administrator.create_all()

    # --- the steps -------------------------------------------------------------------------------

    async def _weather_the_storm(self) -> None:
        self._traffic.start_producers()
        await self._traffic.start_followers(self._scenario.followers)
        self._start_chaos()
        if self._scenario.administer_seconds is not None:
            self._storm.spawn(self._administrator.run(self._scenario.administer_seconds), name="administrator")
        end = self._clock.monotonic() + self._scenario.seconds
        while self._clock.monotonic() < end and not self._verdict.broken:
            await asyncio.sleep(AUDIT_SECONDS)
            await self._look()
            if self._late.random() < LATE_FOLLOWERS_PER_SECOND:
                await self._traffic.start_followers(1)

    async def _heal(self) -> None:
        await self._storm.close()
        self._site.calm_down()
        if self._tables is not None:
            self._tables.calm_down()
        self._traffic.stop_producers()
        await asyncio.sleep(ZOMBIE_SECONDS)
        self._site.end_zombies()
        if self._tables is not None:
            self._tables.end_zombies()
        await asyncio.sleep(UNDER_WAY_SECONDS)
        await self._until(lambda: _true(self._site.all_run()), "brokers come back")
        await self._administrator.create_all()

    async def _finish(self) -> None:
        await self._until(self._traffic.all_is_in, "every batch gets in")
        await self._traffic.start_followers(1)
        if self._tables is not None:
            await self._until(self._tables.everything_is_tabled, "everything comes into the tables", TABLED_SECONDS_MAX)
            await self._traffic.start_followers(1)  # reads what is in tables from the first record on
        await self._until(self._traffic.all_is_read, "consumers reach the end")

    async def _judge(self) -> None:
        await self._look()
        if self._tables is not None:
            await self._tables.judge()
        await self._aftermath().judge(self._traffic.followers())

    async def _collect_garbage(self) -> None:
        await self._clients.close()
        await self._wait_long()
        if self._tables is not None:
            await self._tables.no_garbage_is_left()
        await self._look()
        await self._aftermath().no_garbage_is_left()
        await self._aftermath().receipts_are_written()

    async def _delete_everything(self) -> None:
        await self._administrator.delete_all()
        await self._wait_long()
        if self._tables is not None:
            await self._tables.no_garbage_is_left()  # tables outlive their topics
        await self._aftermath().nothing_is_left()

    async def _wait_long(self) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        self._clock.jump(LONG_MS)
        await asyncio.sleep(GARBAGE_SECONDS)

    async def _close(self) -> None:
        await self._storm.close()
        await self._clients.close()
        if self._tables is not None:
            await self._tables.close()
        await self._site.close()
        await self._network.close()
        await self._store.close()

    # --- small things ----------------------------------------------------------------------------

    def _start_chaos(self) -> None:
        scenario, lease, grace = self._scenario, self._scenario.limits.lease_ms / 1000, GRACE_MS / 1000
        Chaos(
            self._site,
            scenario.pace,
            freezes=[0.5 * lease, 1.5 * lease, 1.5 * grace, 3 * grace],
            drain=lambda broker: broker.drain(),
            tasks=self._storm,
            trace=self._trace,
            rng=self._rng("chaos"),
        ).start()
        if scenario.jump_seconds is not None:
            jumps = jump_clocks(scenario.jump_seconds, self._clock, self._trace, self._rng("jumps"))
            self._storm.spawn(jumps, name="jumps")
        if self._tables is not None:
            self._tables.start(self._storm)

    async def _look(self) -> None:
        await self._audit.look()
        if self._tables is not None:
            await self._tables.look()

    def _aftermath(self) -> Aftermath:
        return Aftermath(
            store=self._store,
            objects=self._objects,
            site=self._site,
            ledger=self._ledger,
            witness=self._witness,
            verdict=self._verdict,
            rng=self._rng("aftermath"),
        )

    def _rng(self, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {purpose}")

    async def _until(
        self, done: Callable[[], Awaitable[bool]], what: str, seconds_max: float = HEAL_SECONDS_MAX
    ) -> None:
        deadline = self._clock.monotonic() + seconds_max
        while not await done() and not self._verdict.broken:
            if self._clock.monotonic() > deadline:
                self._verdict.breaks("after the storm all goes on", f"not within {seconds_max} s: {what}")
            await asyncio.sleep(0.25)

    def _failed(self, task: str, error: BaseException) -> None:
        self._verdict.breaks("nothing fails unseen", task, repr(error))


async def _true(value: bool) -> bool:
    return value

"""A run about transactions: writers that crash, sleep and are fenced; brokers and pipelines in a storm; then quiet.

open -> storm -> heal -> last writers, so that nothing stays open -> readers at every broker and tables agree
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lakestream.metadata.sqlite.opening import open_sqlite
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LEASE_MS_MAX
from lakestream.model.topic import PartitionId, Topic, TopicSpec
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads
from tests.simulation.audit import Audit
from tests.simulation.chaos import Chaos, jump_clocks, repeat
from tests.simulation.clocks import WorldClock
from tests.simulation.loop import VirtualLoop
from tests.simulation.scenario import GRACE_MS, Scenario
from tests.simulation.site import Site
from tests.simulation.tables.lake import Lake
from tests.simulation.tables.pipelines import Pipelines
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

from .account import Account, Place
from .reader import Reader
from .writer import Style, Writer, group_of

LOOK_SECONDS = 1.0
ZOMBIE_SECONDS = 4.0
UNDER_WAY_SECONDS = 12.0
"""By then every request that was sent in the storm has arrived."""
LAST_TRANSACTIONS_SECONDS = 2.0
HEAL_SECONDS_MAX = 120.0
TABLED_SECONDS_MAX = HEAL_SECONDS_MAX + LEASE_MS_MAX / 1000


class Bystander:
    """Sees every verb, and lets it be. It looks at the tables after each commit to them."""

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look

    async def watched(
        self, who: str, verb: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        answer = await act(*args, **kwargs)
        if verb in ("commit_job", "commit_jobs"):
            await self._look()
        return answer

    async def deleting(self, keys: Sequence[str]) -> None:
        """Other runs look at garbage."""


class TransactionsWorld:
    def __init__(self, seed: int, scenario: Scenario, loop: VirtualLoop, trace: Trace, verdict: Verdict) -> None:
        assert scenario.transacting is not None
        assert scenario.tabling is not None
        self._seed = seed
        self._scenario = scenario
        self._transacting = scenario.transacting
        self._tabling = scenario.tabling
        self._trace = trace
        self._verdict = verdict
        self._clock = WorldClock(loop)
        self._objects = MemoryObjects(self._clock)
        self._account = Account(verdict)
        self._network = Tasks(on_failure=self._failed)
        self._storm = Tasks(on_failure=self._failed)
        self._clients = Tasks(on_failure=self._failed)
        self._dice = self._rng("writers")
        self._living: dict[str, tuple[Writer, asyncio.Task[None]]] = {}
        """The newest process of each transactional id."""
        self._writers: list[Writer] = []
        self._readers: list[Reader] = []
        self._deletions: dict[PartitionId, int] = {}
        self._topics: tuple[Topic, ...] = ()
        self._is_calm = False
        self._store: MetadataStore
        self._site: Site
        self._pipelines: Pipelines
        self._lake: Lake
        self._audit: Audit

    async def run(self) -> None:
        await self._open()
        steps: list[Callable[[], Awaitable[None]]] = [self._weather_the_storm, self._heal, self._finish, self._judge]
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
        for name, config in self._scenario.topics.items():
            await self._store.create_topic(
                TopicSpec(id=ids.topic_id(), name=name, partitions=self._scenario.partitions, config=config)
            )
        self._topics = (await self._store.topics()).topics
        around: dict[str, Any] = {
            "store": self._store,
            "objects": self._objects,
            "clock": self._clock,
            "witness": Bystander(self._look_at_tables),
            "network": self._network,
            "trace": self._trace,
            "verdict": self._verdict,
        }
        retained = {name for name, config in self._scenario.topics.items() if "retention" in " ".join(config)}
        self._audit = Audit(self._store, self._objects, self._verdict, self._deletions, retained)
        self._lake = Lake(self._store, self._objects)
        self._site = Site(scenario=self._scenario, **around, rng=self._rng("site"))
        self._pipelines = Pipelines(self._tabling, **around, rng=self._rng("pipelines"))
        self._site.open()
        self._pipelines.open()

    # --- the steps -------------------------------------------------------------------------------

    async def _weather_the_storm(self) -> None:
        scenario, lease = self._scenario, self._scenario.limits.lease_ms / 1000
        for number in range(self._transacting.ids):
            self._begin(f"tx{number}")
        self._start_readers(1)
        freezes = [0.5 * lease, 1.5 * lease, 1.5 * GRACE_MS / 1000]
        for name, processes, pace in (
            ("brokers", self._site, scenario.pace),
            ("pipelines", self._pipelines, self._tabling.pace),
        ):
            Chaos(
                processes,  # type: ignore[type-var]
                pace,
                freezes=freezes,
                drain=lambda process: process.drain(),  # type: ignore[attr-defined]
                tasks=self._storm,
                trace=self._trace,
                rng=self._rng(f"chaos of {name}"),
            ).start()
        if scenario.jump_seconds is not None:
            jumps = jump_clocks(scenario.jump_seconds, self._clock, self._trace, self._rng("jumps"))
            self._storm.spawn(jumps, name="jumps")
        self._storm.spawn(repeat(self._transacting.replace_seconds, self._replace, self._dice), name="writers change")
        if self._transacting.delete_seconds is not None:
            deletions = repeat(self._transacting.delete_seconds, self._delete_records, self._rng("deletions"))
            self._storm.spawn(deletions, name="deletions")
        end = self._clock.monotonic() + scenario.seconds
        while self._clock.monotonic() < end and not self._verdict.broken:
            await asyncio.sleep(LOOK_SECONDS)
            await self._look()

    async def _heal(self) -> None:
        await self._storm.close()
        self._is_calm = True
        self._site.calm_down()
        self._pipelines.calm_down()
        for writer in self._writers:
            writer.is_awake = True
        await asyncio.sleep(ZOMBIE_SECONDS)
        self._site.end_zombies()
        self._pipelines.end_zombies()
        await asyncio.sleep(UNDER_WAY_SECONDS)
        await self._until(lambda: _true(self._site.all_run()), "brokers come back")

    async def _finish(self) -> None:
        """The last process of each id ends what others left open, and then writes undisturbed."""
        for id in sorted(self._living):
            self._begin(id)
        await asyncio.sleep(LAST_TRANSACTIONS_SECONDS)
        for writer in self._writers:
            writer.is_stopping = True
        await self._until(lambda: _true(all(task.done() for _, task in self._living.values())), "writers end")
        last = [writer for writer, _ in self._living.values()]
        self._verdict.holds(not any(writer.is_over for writer in last), "the last writers are not disturbed")
        await self._until(self._nothing_is_open, "all transactions end")
        await self._until(self._everything_is_tabled, "everything comes into the tables", TABLED_SECONDS_MAX)
        self._start_readers(1)
        for id in sorted(self._site.running):
            self._start_readers(1, only=id)
        await self._until(self._all_is_read, "readers reach the end")

    async def _judge(self) -> None:
        await self._look()
        starts = await self._starts()
        union: dict[Place, bytes] = {}
        for reader in self._readers:
            union |= reader.seen
        by_reader = [reader for reader in self._readers if _reaches_back(reader, starts)]
        self._verdict.holds(bool(by_reader), "someone read everything")
        names = sorted({reader.name for reader in by_reader})
        for name in names:
            seen: dict[Place, bytes] = {}
            for reader in by_reader:
                if reader.name == name:
                    seen |= reader.seen
            if {place for reader in by_reader if reader.name == name for place in reader.topic.partitions} == set(
                starts
            ):
                self._account.whole(name, seen, starts)
        rows = await self._rows()
        self._account.whole("tables", rows, starts)
        await self._judge_offsets(union.values())

    async def _judge_offsets(self, seen: Any) -> None:
        for id in sorted(self._living):
            committed = await self._store.groups.fetch_offsets(group_of(id), None)
            offset = max((each.offset for each in committed.values()), default=-1)
            least, most = self._account.last_offset_of(id, seen)
            self._verdict.holds(
                least <= offset <= most, "a group has the offset of the last transaction", id, least, offset, most
            )

    async def _close(self) -> None:
        await self._storm.close()
        await self._clients.close()
        await self._pipelines.close()
        await self._site.close()
        await self._network.close()
        await self._store.close()

    # --- looking ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        await self._audit.look()
        await self._look_at_tables()

    async def _look_at_tables(self) -> None:
        rows = await self._rows()
        starts = await self._starts()  # read later, so that it tells of all deletions that the tables know
        for place, value in rows.items():
            self._account.seen("a table", place, value)
        self._account.torn("tables", rows.values(), starts)

    async def _rows(self) -> dict[Place, bytes]:
        """All rows of all tables, as of one moment."""
        by_topic = {topic.id: topic for topic in self._topics}
        found: dict[Place, bytes] = {}
        for table in await self._lake.tables():
            assert table.pointer.topic is not None
            partitions = by_topic[table.pointer.topic].partitions
            for file in table.main_files:
                for row in await self._lake.rows(file):
                    place = Place(partitions[row.number], row.row.offset)
                    self._verdict.holds(place not in found, "a row is there once", place)
                    found[place] = row.row.sent.value
        return found

    async def _starts(self) -> dict[PartitionId, int]:
        partitions = [partition for topic in self._topics for partition in topic.partitions]
        return {id: size.tail.log_start for id, size in (await self._store.tails(partitions)).items()}

    async def _nothing_is_open(self) -> bool:
        return not await self._store.transactions.open_longer_than(-1, 1)

    async def _everything_is_tabled(self) -> bool:
        partitions = [partition for topic in self._topics for partition in topic.partitions]
        return all(size.tail.untabled == 0 for size in (await self._store.tails(partitions)).values())

    async def _all_is_read(self) -> bool:
        return all([await reader.is_at_the_end() for reader in self._readers])

    # --- writers and readers ---------------------------------------------------------------------

    def _begin(self, id: str) -> None:
        """A new process under this id. The one before, if it lives, will find out."""
        name = f"w{len(self._writers)}"
        style = Style(
            implicit=self._dice.random() < 0.6,
            timeout_ms=self._transacting.timeout_ms,
            records_max=self._scenario.records_max,
            batch_seconds=self._scenario.batch_seconds,
        )
        writer = Writer(
            name=name,
            id=id,
            style=style,
            topics=self._topics,
            site=self._site,
            account=self._account,
            verdict=self._verdict,
            clock=self._clock,
            trace=self._trace,
            rng=self._rng(name),
            is_awake=self._is_calm,
        )
        self._trace.note("writer begins", name, id, "implicit" if style.implicit else "explicit")
        self._writers.append(writer)
        self._living[id] = (writer, self._clients.spawn(writer.live(), name=name))

    async def _replace(self) -> None:
        id = self._dice.choice(sorted(self._living))
        writer, task = self._living[id]
        if self._dice.random() < 0.5:
            self._trace.note("writer crashes", writer.name)
            task.cancel()
        self._begin(id)

    async def _delete_records(self) -> None:
        topic = self._dice.choice(self._topics)
        partition = self._dice.choice(topic.partitions)
        end = (await self._store.tails([partition]))[partition].tail.next_offset
        before = self._dice.randint(0, end)
        self._deletions[partition] = max(before, self._deletions.get(partition, 0))
        await self._store.delete_records(partition, before)
        self._trace.note("records deleted", partition, before)

    def _start_readers(self, count: int, only: int | None = None) -> None:
        """So many for every topic."""
        for _ in range(count):
            for topic in self._topics:
                name = f"r{len(self._readers) // len(self._topics)}"
                reader = Reader(
                    name,
                    topic,
                    site=self._site,
                    store=self._store,
                    account=self._account,
                    verdict=self._verdict,
                    trace=self._trace,
                    rng=self._rng(f"{name} {topic.name}"),
                    only=only,
                )
                self._readers.append(reader)
                self._clients.spawn(reader.run(), name=f"{name} {topic.name}")

    # --- small things ----------------------------------------------------------------------------

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


def _reaches_back(reader: Reader, starts: dict[PartitionId, int]) -> bool:
    """Whether it read all that is retained."""
    return all(reader.began_at[partition] <= starts[partition] for partition in reader.topic.partitions)


async def _true(value: bool) -> bool:
    return value

"""A run about groups: brokers in a storm, members that come, crash, leave and go on; then quiet, and one owner each.

open -> storm -> heal -> quiet -> every partition has one owner, in the newest generation, and its commits stand
"""

import asyncio
import random

from lakestream.metadata.sqlite.opening import open_sqlite
from lakestream.metadata.store import MetadataStore
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicSpec
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads
from tests.simulation.chaos import Chaos, jump_clocks, repeat
from tests.simulation.clocks import WorldClock
from tests.simulation.loop import VirtualLoop
from tests.simulation.scenario import Scenario
from tests.simulation.site import Site
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

from .member import ClassicMember, ConsumerMember, Member
from .witness import GroupWitness

KINDS: dict[str, type[Member]] = {"classic": ClassicMember, "consumer": ConsumerMember}
MEMBERS_MAX = 5
ZOMBIE_SECONDS = 4.0
QUIET_SECONDS = 45.0
"""Enough for a session to run out, a rebalance to wait for the slowest, and another one after it."""
LEAVE_SECONDS_MAX = 5.0


class GroupsWorld:
    def __init__(self, seed: int, scenario: Scenario, loop: VirtualLoop, trace: Trace, verdict: Verdict) -> None:
        assert scenario.grouping is not None
        self._seed = seed
        self._scenario = scenario
        self._grouping = scenario.grouping
        self._trace = trace
        self._verdict = verdict
        self._clock = WorldClock(loop)
        self._network = Tasks(on_failure=self._failed)
        self._storm = Tasks(on_failure=self._failed)
        self._clients = Tasks(on_failure=self._failed)
        self._members: dict[str, tuple[Member, asyncio.Task[None]]] = {}
        self._made = 0
        self._dice = self._rng("members")
        self._store: MetadataStore
        self._site: Site
        self._witness: GroupWitness

    async def run(self) -> None:
        await self._open()
        await self._weather_the_storm()
        await self._calm_down()
        if not self._verdict.broken:
            await self._judge()
        await self._close()

    async def _open(self) -> None:
        ids = Ids(self._clock, SeededChance(self._seed))
        self._store = await open_sqlite(
            "sqlite://:memory:", clock=self._clock, ids=ids, one_thread=lambda _: InlineThreads()
        )
        for name, count in self._grouping.topics.items():
            await self._store.create_topic(TopicSpec(id=ids.topic_id(), name=name, partitions=count))
        self._witness = GroupWitness(self._store, self._verdict, self._trace)
        self._site = Site(
            scenario=self._scenario,
            store=self._store,
            objects=MemoryObjects(self._clock),
            clock=self._clock,
            witness=self._witness,
            network=self._network,
            trace=self._trace,
            verdict=self._verdict,
            rng=self._rng("site"),
        )
        self._site.open()

    # --- the steps -------------------------------------------------------------------------------

    async def _weather_the_storm(self) -> None:
        for _ in range(2):
            self._come()
        lease = self._scenario.limits.lease_ms / 1000
        Chaos(
            self._site,
            self._scenario.pace,
            freezes=[0.5 * lease, 1.5 * lease, 4 * lease],
            drain=lambda broker: broker.drain(),
            tasks=self._storm,
            trace=self._trace,
            rng=self._rng("chaos"),
            suspended_chance=0.6,
        ).start()
        if self._scenario.jump_seconds is not None:
            jumps = jump_clocks(self._scenario.jump_seconds, self._clock, self._trace, self._rng("jumps"))
            self._storm.spawn(jumps, name="jumps")
        self._storm.spawn(repeat(self._grouping.change_seconds, self._change, self._dice), name="members change")
        await asyncio.sleep(self._scenario.seconds)

    async def _calm_down(self) -> None:
        self._trace.note("calm")
        await self._storm.close()
        self._site.calm_down()
        await asyncio.sleep(ZOMBIE_SECONDS)
        self._site.end_zombies()
        if not self._members:
            self._come()
        await asyncio.sleep(QUIET_SECONDS)

    async def _judge(self) -> None:
        every = sorted(
            TopicPartition(topic.id, number)
            for topic in (await self._store.topics()).topics
            for number in range(len(topic.partitions))
        )
        members = [member for member, _ in self._members.values()]
        owned = sorted(partition for member in members for partition in member.owned)
        told = {member.name: (member.generation, len(member.owned)) for member in members}
        self._verdict.holds(owned == every, "when it is quiet each partition has one owner", told)
        ended = [name for name, (_, task) in self._members.items() if task.done()]
        self._verdict.holds(not ended, "no member gives up", ended)
        generations = {member.generation for member in members if member.owned}
        self._verdict.holds(len(generations) == 1, "all owners are in the newest generation", told)

    async def _close(self) -> None:
        await self._storm.close()
        await self._clients.close()
        await self._site.close()
        await self._network.close()
        await self._store.close()

    # --- members come and go ---------------------------------------------------------------------

    async def _change(self) -> None:
        act = self._dice.choice([self._come, self._come, self._crash, self._leave])
        act()

    def _come(self) -> None:
        if len(self._members) >= MEMBERS_MAX:
            return
        self._made += 1
        name = f"m{self._made}"
        kind = self._dice.choice(self._grouping.kinds)
        member = KINDS[kind](
            name,
            frozenset(self._grouping.topics),
            site=self._site,
            witness=self._witness,
            tasks=self._clients,
            trace=self._trace,
            rng=self._rng(name),
        )
        self._trace.note("comes", name, kind)
        self._members[name] = (member, self._clients.spawn(member.live(), name=name))

    def _crash(self) -> None:
        if (member := self._end_one()) is not None:
            self._trace.note("crashes", member.name)

    def _leave(self) -> None:
        if (member := self._end_one()) is not None:
            self._trace.note("leaves", member.name)
            self._clients.spawn(_goodbye(member), name=f"{member.name}-goodbye")

    def _end_one(self) -> Member | None:
        if not self._members:
            return None
        member, task = self._members.pop(self._dice.choice(sorted(self._members)))
        task.cancel()
        return member

    # --- small things ----------------------------------------------------------------------------

    def _rng(self, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {purpose}")

    def _failed(self, task: str, error: BaseException) -> None:
        self._verdict.breaks("nothing fails unseen", task, repr(error))


async def _goodbye(member: Member) -> None:
    try:
        await asyncio.wait_for(member.say_goodbye(), LEAVE_SECONDS_MAX)
    except TimeoutError:
        return

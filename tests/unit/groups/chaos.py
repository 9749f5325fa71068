"""A cluster of coordinators and their clients on virtual time, in which things go wrong by a seed.

Clients behave as real ones do: they find the coordinator, join, read what they are given, commit how far they came, and
let go when told. What goes wrong: clients crash, leave and come; the group moves between brokers, some of which go on
believing that they own it; writes fail before or after they were done; topics come, grow and go.
"""

import asyncio
import random
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lakestream.broker.groups.asks import HeartbeatAsk, Joined, LeaveAsk, Leaver, SyncAsk
from lakestream.broker.groups.consumer.assignors import Subscriber, assign_range
from lakestream.broker.groups.consumer.classic_members import names_of, partitions_of
from lakestream.broker.groups.embedded import read_assignment, read_subscription, write_assignment
from lakestream.broker.groups.errors import (
    CoordinatorLoading,
    CoordinatorNotAvailable,
    FencedMemberEpoch,
    MemberIdRequired,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMember,
)
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.offsets import CommitAsk, OffsetFetchAsk
from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment, ProtocolOffer
from lakestream.model.errors import IllegalGeneration, LakestreamError, NotCoordinator
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.world.chance import SeededChance
from tests.unit.groups.bench import GROUP, consumer_ask, join_ask, subscription, topics
from tests.unit.groups.memory_store import MemoryGroupStore, Row
from tests.unit.groups.site import Broker, FixedTopics, broker

BROKERS = 3
CLIENTS_MAX = 6
NAMES = frozenset({"orders", "bills"})
LIMITS = GroupLimits(initial_rebalance_delay_ms=500, consumer_session_timeout_ms=10_000)
TURNED_AWAY = (NotCoordinator, CoordinatorNotAvailable, CoordinatorLoading)


class WatchedStore(MemoryGroupStore):
    """Notices a commit that takes a partition back."""

    went_back: int = 0

    def _replace(self, row: Row, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        before = row.offsets
        self.went_back += sum(new.offset < before[one].offset for one, new in offsets.items() if one in before)
        super()._replace(row, offsets)


@dataclass
class Cluster:
    seed: int
    chance: random.Random = field(init=False)
    store: WatchedStore = field(init=False)
    topics: FixedTopics = field(init=False)
    brokers: list[Broker] = field(default_factory=list)
    believes: list[bool] = field(default_factory=lambda: [True] + [False] * (BROKERS - 1))
    coordinator: int = 0
    clients: list["Client"] = field(default_factory=list)
    under_way: dict["asyncio.Task[None]", None] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)
    made: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"orders": 4, "bills": 3})
    version: int = 1

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.store = WatchedStore(chance=SeededChance(self.seed), delay_seconds=0.2)
        self.topics = FixedTopics(topics(**self.counts))
        for number in range(BROKERS):
            ours = lambda _, number=number: self.believes[number]  # noqa: E731
            self.brokers.append(broker(self.store, self.topics, id=number, limits=LIMITS, is_ours=ours))

    # --- what goes wrong -----------------------------------------------------------------------

    async def trouble(self, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self.store.fault_rate, self.store.commit_delay_seconds = 0.05, 4.0
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(self.chance.uniform(0, 4))
            self.chance.choice([self.come, self.come, self.crash, self.leave, self.move, self.change_topics])()

    async def calm(self, seconds: float) -> None:
        """Everything heals: the brokers agree, the store works, nobody comes or goes."""
        self.store.fault_rate, self.store.commit_delay_seconds = 0.0, 0.0
        self.believes = [number == self.coordinator for number in range(BROKERS)]
        await asyncio.sleep(seconds)

    def come(self) -> None:
        if len(self.clients) < CLIENTS_MAX:
            self.made += 1
            kind = self.chance.choice(self.kinds)
            client = kind(self, f"c{self.made}")
            client.task = self.begin(client.live())
            self.clients.append(client)

    def crash(self) -> None:
        if self.clients:
            self._end(self.chance.choice(self.clients))

    def leave(self) -> None:
        if self.clients:
            client = self.chance.choice(self.clients)
            self._end(client)
            self.begin(client.say_goodbye())

    def move(self) -> None:
        """The group goes to another broker; the one it leaves may not notice for a while."""
        if self.chance.random() < 0.5:
            self.believes[self.coordinator] = False
        self.coordinator = self.chance.randrange(BROKERS)
        self.believes[self.coordinator] = True

    def change_topics(self) -> None:
        name = self.chance.choice(["orders", "bills", "unrelated"])
        if name == "bills" and "bills" in self.counts:
            del self.counts["bills"]
        else:
            self.counts[name] = self.counts.get(name, 0) + 1
        self.version += 1
        self.topics.now = topics(self.version, **self.counts)

    kinds: "list[type[Client]]" = field(default_factory=lambda: [ClassicClient, ConsumerClient])

    # --- what must hold ------------------------------------------------------------------------

    def check_one_owner_each(self) -> None:
        assert not self.store.went_back, "commits went back"
        for client in self.clients:
            assert client.task is not None and not client.task.done(), f"{client.name} has given up: {client.task}"
        image = self.topics.now
        every = sorted(
            TopicPartition(image.by_name[name].id, number)
            for name in NAMES & image.by_name.keys()
            for number in range(image.by_name[name].partitions)
        )
        owned = sorted(partition for client in self.clients for partition in client.owned)
        if self.clients:
            assert owned == every, {client.name: sorted(client.owned) for client in self.clients}

    async def close(self) -> None:
        """What was sent is answered, though nobody may be there any more to hear it."""
        for client in list(self.clients):
            self._end(client)
        await asyncio.gather(*self.under_way, return_exceptions=True)
        assert not self.failures
        for one in self.brokers:
            one.holdings.close()
            await one.tasks.close()

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """For a client. It may outlive it: a commit that was sent arrives, whatever becomes of its sender."""
        task = asyncio.get_running_loop().create_task(work)
        self.under_way[task] = None
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        del self.under_way[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(error)

    def _end(self, client: "Client") -> None:
        self.clients.remove(client)
        assert client.task is not None
        client.task.cancel()


class Client:
    """What both kinds share: finding the coordinator, reading and committing."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.at = cluster.coordinator
        self.member_id = ""
        self.generation = -1
        self.owned: Assignment = NO_PARTITIONS
        self.positions: dict[TopicPartition, int] = {}
        self.committing: asyncio.Task[None] | None = None
        self.task: asyncio.Task[None] | None = None

    @property
    def broker(self) -> Broker:
        return self.cluster.brokers[self.at]

    async def live(self) -> None:
        while True:
            try:
                await self.step()
            except TURNED_AWAY:
                await asyncio.sleep(0.2)
                self.at = self.cluster.coordinator

    async def step(self) -> None:
        raise NotImplementedError

    async def say_goodbye(self) -> None:
        raise NotImplementedError

    async def own(self, assignment: Assignment) -> None:
        """Positions of what is new are read from the group; those of what stays are known."""
        new = sorted(assignment - self.owned)
        self.owned = self.owned & assignment
        self.positions = {one: at for one, at in self.positions.items() if one in self.owned}
        ask = OffsetFetchAsk(group=GROUP)
        committed = await self.broker.administration.fetch(ask, new) if new else {}
        self.positions.update({one: committed[one].offset if one in committed else 0 for one in new})
        self.owned = assignment

    def read_on(self) -> None:
        """Read a little, and commit without waiting for it, one commit after the other, as clients do."""
        for partition in self.owned:
            self.positions[partition] += self.cluster.chance.randrange(3)
        if self.owned and (self.committing is None or self.committing.done()):
            offsets = {one: CommittedOffset(self.positions[one]) for one in self.owned}
            self.committing = self.cluster.begin(self._commit(offsets))

    async def _commit(self, offsets: dict[TopicPartition, CommittedOffset]) -> None:
        ask = CommitAsk(group=GROUP, member_id=self.member_id, generation=self.generation, offsets=offsets)
        with suppress(*TURNED_AWAY, IllegalGeneration, UnknownMember, RebalanceInProgress, StaleMemberEpoch):
            await self.broker.administration.commit(ask)


class ClassicClient(Client):
    """Eager: lets go of everything before it joins. The leader assigns by ranges."""

    async def step(self) -> None:
        self.owned = NO_PARTITIONS
        joined = await self._join()
        if joined is None:
            return
        version = self.cluster.topics.now.version
        ask = SyncAsk(
            group=GROUP,
            member_id=self.member_id,
            instance_id=None,
            generation=joined.generation,
            protocol_type="consumer",
            protocol=joined.protocol,
            assignments=self._assign(joined) if joined.leader == self.member_id else {},
        )
        try:
            synced = await self.broker.coordinator.sync(ask)
            self.generation = joined.generation
            given = read_assignment(synced.assignment).partitions
            await self.own(partitions_of(dict(given), self.cluster.topics.now))
            await self._stay(joined.leader == self.member_id, version)
        except (RebalanceInProgress, IllegalGeneration):
            return
        except UnknownMember:
            self.member_id = ""

    async def say_goodbye(self) -> None:
        with suppress(LakestreamError):
            leave = LeaveAsk(group=GROUP, leavers=[Leaver(self.member_id, None)])
            await self.broker.coordinator.leave(leave)

    async def _join(self) -> Joined | None:
        ask = join_ask(
            self.member_id,
            fresh=f"{self.name}-{self.cluster.chance.getrandbits(32)}",
            offers=(ProtocolOffer("range", subscription(*sorted(NAMES))),),
            needs_known_member_id=True,
            rebalance_timeout_ms=8_000,
        )
        answer = await self.broker.coordinator.join(ask)
        if isinstance(answer, Joined):
            self.member_id = answer.member_id
            return answer
        if isinstance(answer.error, TURNED_AWAY):
            raise answer.error
        self.member_id = answer.member_id if isinstance(answer.error, MemberIdRequired | RebalanceInProgress) else ""
        return None

    def _assign(self, joined: Joined) -> dict[str, bytes]:
        image = self.cluster.topics.now
        readers = {}
        for member in joined.members:
            names = read_subscription(member.metadata).topics & image.by_name.keys()
            topic_ids = frozenset(image.by_name[name].id for name in names)
            readers[member.member_id] = Subscriber(member.member_id, topic_ids, NO_PARTITIONS)
        counts = {topic.id: topic.partitions for topic in image.by_name.values()}
        return {
            name: write_assignment(1, names_of(given, image)) for name, given in assign_range(readers, counts).items()
        }

    async def _stay(self, is_leader: bool, version: int) -> None:
        while True:
            await asyncio.sleep(1)
            ask = HeartbeatAsk(group=GROUP, member_id=self.member_id, instance_id=None, generation=self.generation)
            await self.broker.coordinator.heartbeat(ask)
            self.read_on()
            if is_leader and self.cluster.topics.now.version != version:
                raise RebalanceInProgress("the leader has seen other topics")


class ConsumerClient(Client):
    """After anything went wrong it says everything, and is told everything."""

    epoch = 0
    all_is_well = False

    async def step(self) -> None:
        self.member_id = self.member_id or self.name
        changes = {} if self.all_is_well else {"topics": NAMES, "rebalance_timeout_ms": 8_000}
        owned = NO_PARTITIONS if self.epoch == 0 else self.owned
        self.all_is_well = False
        try:
            ask = consumer_ask(self.member_id, self.epoch, owned=owned, **changes)
            answer = await self.broker.coordinator.consumer_heartbeat(ask)
        except (FencedMemberEpoch, UnknownMember):
            self.epoch, self.owned = 0, NO_PARTITIONS
            return
        self.epoch = self.generation = answer.member_epoch
        if answer.assignment is not None:
            await self.own(answer.assignment)
        self.all_is_well = True
        self.read_on()
        await asyncio.sleep(1)

    async def say_goodbye(self) -> None:
        with suppress(LakestreamError):
            await self.broker.coordinator.consumer_heartbeat(consumer_ask(self.member_id, -1))

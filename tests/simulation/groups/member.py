"""Members of a group as clients have them: they find the coordinator, join, read on, commit, and let go when told.

They ask any broker who coordinates, and believe it: so two of them may be at two brokers that both think they do.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.groups.asks import HeartbeatAsk, Joined, JoinRefused, LeaveAsk, Leaver, SyncAsk, Synced
from lakestream.broker.groups.consumer.assignors import Subscriber, assign_range
from lakestream.broker.groups.consumer.classic_members import names_of, partitions_of
from lakestream.broker.groups.embedded import read_assignment, read_subscription, write_assignment
from lakestream.broker.groups.errors import (
    CoordinatorLoading,
    CoordinatorNotAvailable,
    FencedMemberEpoch,
    GroupNotFound,
    MemberIdRequired,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMember,
)
from lakestream.broker.groups.offsets import CommitAsk, OffsetFetchAsk
from lakestream.broker.groups.ownership import coordinator_of
from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment, ProtocolOffer
from lakestream.broker.groups.topics.directory_topics import DirectoryTopics
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.model.errors import IllegalGeneration, LakestreamError, NotCoordinator
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.world.tasks import Tasks
from tests.simulation.network import Connection, Disconnected
from tests.simulation.site import Site
from tests.simulation.trace import Trace
from tests.unit.groups.bench import GROUP, consumer_ask, join_ask, subscription

from .witness import GroupWitness

REQUEST_SECONDS_MAX = 6.0
JOIN_SECONDS_MAX = 20.0
"""A join waits for all members, at most for the rebalance timeout."""
HEARTBEAT_SECONDS = 1.0
PAUSE_SECONDS = 0.2
SESSION_TIMEOUT_MS = 6_000
REBALANCE_TIMEOUT_MS = 8_000
TURNED_AWAY = (NotCoordinator, CoordinatorNotAvailable, CoordinatorLoading, Disconnected)
ASK_ANYONE_CHANCE = 0.1
"""Clients may hold on to what they heard long ago: now and then one goes to any broker at all."""

Verb = Callable[[Broker], Awaitable[Any]]


class Member:
    def __init__(
        self,
        name: str,
        topics: frozenset[str],
        *,
        site: Site,
        witness: GroupWitness,
        tasks: Tasks,
        trace: Trace,
        rng: random.Random,
    ) -> None:
        self.name = name
        self.owned: Assignment = NO_PARTITIONS
        self.generation = -1
        self.member_id = ""
        self._topics = topics
        self._site = site
        self._witness = witness
        self._tasks = tasks
        self._trace = trace
        self._rng = rng
        self._connection: Connection | None = None
        self._positions: dict[TopicPartition, int] = {}
        self._committing: asyncio.Task[None] | None = None

    async def live(self) -> None:
        while True:
            try:
                await self._step()
            except TURNED_AWAY as error:
                self._trace.note("turned away", self.name, type(error).__name__)
                self._connection = None
                await asyncio.sleep(PAUSE_SECONDS)

    async def say_goodbye(self) -> None:
        raise NotImplementedError

    async def _step(self) -> None:
        raise NotImplementedError

    # --- what both kinds share -------------------------------------------------------------------

    async def _own(self, assignment: Assignment) -> None:
        """Positions of what is new are read from the group; those of what stays are known."""
        new = sorted(assignment - self.owned)
        self.owned = self.owned & assignment
        self._positions = {one: at for one, at in self._positions.items() if one in self.owned}
        committed = await self._ask(lambda broker: broker.groups.administration.fetch(OffsetFetchAsk(group=GROUP), new))
        self._positions.update({one: committed[one].offset if one in committed else 0 for one in new})
        self.owned = assignment
        self._trace.note("owns", self.name, self.generation, len(assignment))

    def _read_on(self) -> None:
        """Read a little, and commit without waiting for it, one commit after the other, as clients do."""
        for partition in sorted(self.owned):
            self._positions[partition] += self._rng.randrange(3)
        if self.owned and (self._committing is None or self._committing.done()):
            offsets = {one: CommittedOffset(self._positions[one]) for one in sorted(self.owned)}
            self._committing = self._tasks.spawn(self._commit(offsets), name=f"{self.name}-commit")

    async def _commit(self, offsets: dict[TopicPartition, CommittedOffset]) -> None:
        ask = CommitAsk(group=GROUP, member_id=self.member_id, generation=self.generation, offsets=offsets)
        try:
            await self._ask(lambda broker: broker.groups.administration.commit(ask))
        except (*TURNED_AWAY, IllegalGeneration, UnknownMember, RebalanceInProgress, StaleMemberEpoch) as error:
            self._trace.note("commit refused", self.name, self.generation, type(error).__name__)
        except GroupNotFound:
            self._trace.note("commit refused", self.name, "no group")
        else:
            self._trace.note("committed", self.name, self.generation)
            await self._witness.acked(GROUP, offsets)

    async def _ask(self, verb: Verb, seconds: float = REQUEST_SECONDS_MAX) -> Any:
        async def enter(broker: Broker) -> Awaitable[Any]:
            return verb(broker)

        if self._connection is None or not self._connection.is_open:
            self._connection = await self._find_coordinator()
        return await self._connection.request(enter, seconds)

    async def _find_coordinator(self) -> Connection:
        anyone = self._site.connect(self._rng)
        if anyone is None:
            raise Disconnected
        if self._rng.random() < ASK_ANYONE_CHANCE and self._site.is_stormy:
            return anyone
        id = await anyone.request(_coordinator, REQUEST_SECONDS_MAX)
        if (running := self._site.running.get(id)) is None:
            raise Disconnected
        return self._site.connect_to(running, self._rng)

    async def _image(self) -> TopicsImage:
        """As a broker has it: Metadata."""

        async def look(broker: Broker) -> TopicsImage:
            return DirectoryTopics(broker.directory).image()

        image: TopicsImage = await self._ask(look)
        return image


async def _coordinator(broker: Broker) -> Awaitable[int]:
    async def find() -> int:
        return coordinator_of(broker.cluster.live(), GROUP).id

    return find()


class ClassicMember(Member):
    """Eager: lets go of everything before it joins. The leader assigns by ranges."""

    async def say_goodbye(self) -> None:
        leave = LeaveAsk(group=GROUP, leavers=[Leaver(self.member_id, None)])
        with suppress(LakestreamError, Disconnected):
            await self._ask(lambda broker: broker.groups.coordinator.leave(leave))

    async def _step(self) -> None:
        self.owned = NO_PARTITIONS
        joined = await self._join()
        if joined is None:
            return
        try:
            image = await self._image()
            synced = await self._sync(joined, image)
            self.generation = joined.generation
            await self._own(partitions_of(dict(read_assignment(synced.assignment).partitions), image))
            await self._stay()
        except (RebalanceInProgress, IllegalGeneration):
            return
        except UnknownMember:
            self.member_id = ""

    async def _join(self) -> Joined | None:
        ask = join_ask(
            self.member_id,
            fresh=f"{self.name}-{self._rng.getrandbits(32)}",
            offers=(ProtocolOffer("range", subscription(*sorted(self._topics))),),
            needs_known_member_id=True,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        )
        answer: Joined | JoinRefused = await self._ask(
            lambda broker: broker.groups.coordinator.join(ask), JOIN_SECONDS_MAX
        )
        if isinstance(answer, Joined):
            self.member_id = answer.member_id
            return answer
        if isinstance(answer.error, TURNED_AWAY):
            raise answer.error
        self.member_id = answer.member_id if isinstance(answer.error, MemberIdRequired | RebalanceInProgress) else ""
        return None

    async def _sync(self, joined: Joined, image: TopicsImage) -> Synced:
        ask = SyncAsk(
            group=GROUP,
            member_id=self.member_id,
            instance_id=None,
            generation=joined.generation,
            protocol_type="consumer",
            protocol=joined.protocol,
            assignments=_assigned(joined, image) if joined.leader == self.member_id else {},
        )
        synced: Synced = await self._ask(lambda broker: broker.groups.coordinator.sync(ask), JOIN_SECONDS_MAX)
        return synced

    async def _stay(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self._ask(self._heartbeat)
            self._read_on()

    async def _heartbeat(self, broker: Broker) -> None:
        ask = HeartbeatAsk(group=GROUP, member_id=self.member_id, instance_id=None, generation=self.generation)
        await broker.groups.coordinator.heartbeat(ask)


class ConsumerMember(Member):
    """KIP-848. After anything went wrong it says everything, and is told everything."""

    _epoch = 0
    _all_is_well = False

    async def say_goodbye(self) -> None:
        with suppress(LakestreamError, Disconnected):
            await self._ask(lambda broker: broker.groups.coordinator.consumer_heartbeat(consumer_ask(self.name, -1)))

    async def _step(self) -> None:
        self.member_id = self.name
        changes: dict[str, Any] = {"topics": self._topics, "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS}
        owned = NO_PARTITIONS if self._epoch == 0 else self.owned
        ask = consumer_ask(self.name, self._epoch, owned=owned, **({} if self._all_is_well else changes))
        self._all_is_well = False
        try:
            answer = await self._ask(lambda broker: broker.groups.coordinator.consumer_heartbeat(ask))
        except (FencedMemberEpoch, UnknownMember, GroupNotFound):
            self._epoch, self.owned = 0, NO_PARTITIONS
            await asyncio.sleep(PAUSE_SECONDS)
            return
        self._epoch = self.generation = answer.member_epoch
        if answer.assignment is not None:
            await self._own(answer.assignment)
        self._all_is_well = True
        self._read_on()
        await asyncio.sleep(HEARTBEAT_SECONDS)


def _assigned(joined: Joined, image: TopicsImage) -> dict[str, bytes]:
    readers = {}
    for member in joined.members:
        names = read_subscription(member.metadata).topics & image.by_name.keys()
        topic_ids = frozenset(image.by_name[name].id for name in names)
        readers[member.member_id] = Subscriber(member.member_id, topic_ids, NO_PARTITIONS)
    counts = {topic.id: topic.partitions for topic in image.by_name.values()}
    return {name: write_assignment(1, names_of(given, image)) for name, given in assign_range(readers, counts).items()}

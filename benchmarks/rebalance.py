"""How long a group of a hundred members takes to rebalance, by both protocols.

    all are in -> one more joins -> everyone has its share of the new generation    (timed)
               -> it leaves      -> everyone has its share again                    (timed)

Members are bare protocol: each has a connection, sends heartbeats ten times a second and does what the answers say at
once. So at most a tenth of a second is waiting for a heartbeat; the rest is the coordinator's, and the clients' CPU.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.clients import RoundFailed
from benchmarks.wire import Connection
from lakestream.protocol.kafka.wire import messages

MEMBERS = 100
HEARTBEAT_S = 0.1
SESSION_MS = 45_000
STABLE_S_MAX = 60
COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC, CONSUMER_HEARTBEAT = 10, 11, 12, 13, 14, 68
NONE, LOADING, NOT_AVAILABLE, NOT_COORDINATOR, REBALANCING, ID_REQUIRED = 0, 14, 15, 16, 27, 79
SUBSCRIPTION = b"\0\0\0\0\0\0\xff\xff\xff\xff"
LEAVING_EPOCH = -1


async def await_coordinator(address: str, group: str) -> None:
    """Kafka makes its offsets topic when it is first asked, and loads it."""
    connection = await Connection.open(address)
    api = messages.api(COORDINATOR)
    deadline = time.monotonic() + STABLE_S_MAX
    while time.monotonic() < deadline:
        answer = await connection.ask(COORDINATOR, 4, api.Request(key_type=0, coordinator_keys=[group]))
        if all(each.error_code == NONE for each in answer.coordinators):
            probe = messages.api(HEARTBEAT).Request(group_id=group, generation_id=1, member_id="nobody")
            if (await connection.ask(HEARTBEAT, 4, probe)).error_code not in (LOADING, NOT_AVAILABLE, NOT_COORDINATOR):
                connection.close()
                return
        await asyncio.sleep(0.2)
    raise RoundFailed(f"{address} has no coordinator for groups")


class ClassicMember:
    def __init__(self, connection: Connection, group: str) -> None:
        self.generation = -1
        """The one in which it has its assignment."""
        self._connection = connection
        self._group = group
        self._id = ""

    async def live(self) -> None:
        await self._join()
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            beat = messages.api(HEARTBEAT).Request(
                group_id=self._group, generation_id=self.generation, member_id=self._id
            )
            code = (await self._connection.ask(HEARTBEAT, 4, beat)).error_code
            if code == REBALANCING:
                await self._join()
            elif code != NONE:
                raise RoundFailed(f"a heartbeat was answered with error {code}")

    async def leave(self) -> None:
        api = messages.api(LEAVE)
        member = api.request.MemberIdentity(member_id=self._id)
        await self._connection.ask(LEAVE, 5, api.Request(group_id=self._group, members=[member]))
        self._connection.close()

    async def _join(self) -> None:
        for _ in range(STABLE_S_MAX):
            joined = await self._connection.ask(JOIN, 9, self._join_request())
            self._id = joined.member_id or self._id
            if joined.error_code == ID_REQUIRED:
                continue
            if joined.error_code != NONE:
                raise RoundFailed(f"a join was answered with error {joined.error_code}")
            synced = await self._connection.ask(SYNC, 5, self._sync_request(joined))
            if synced.error_code == NONE:
                self.generation = joined.generation_id
                return
            if synced.error_code != REBALANCING:
                raise RoundFailed(f"a sync was answered with error {synced.error_code}")
        raise RoundFailed("a member found no stable generation")

    def _join_request(self) -> Any:
        api = messages.api(JOIN)
        return api.Request(
            group_id=self._group,
            session_timeout=SESSION_MS,
            rebalance_timeout=SESSION_MS,
            member_id=self._id,
            protocol_type="consumer",
            protocols=[api.request.JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)],
        )

    def _sync_request(self, joined: Any) -> Any:
        """The leader brings an assignment for everyone."""
        api = messages.api(SYNC)
        return api.Request(
            group_id=self._group,
            generation_id=joined.generation_id,
            member_id=self._id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                api.request.SyncGroupRequestAssignment(member_id=each.member_id, assignment=b"share")
                for each in joined.members
            ],
        )


def classic_settled(members: Sequence[ClassicMember], after: int) -> bool:
    """All are in one generation that came after that one."""
    return {member.generation for member in members} == {members[0].generation} and members[0].generation > after


class ConsumerMember:
    """A member of the newer protocol: the server assigns, members confirm what they hold."""

    def __init__(self, connection: Connection, group: str, topic: str, name: str) -> None:
        self.epoch = 0
        self.partitions: list[int] = []
        self._connection = connection
        self._group = group
        self._topic = topic
        self._id = name
        self._topic_id = b""

    async def live(self) -> None:
        while True:
            if not await self._beat():
                await asyncio.sleep(HEARTBEAT_S)

    async def leave(self) -> None:
        body = messages.api(CONSUMER_HEARTBEAT).Request(
            group_id=self._group, member_id=self._id, member_epoch=LEAVING_EPOCH
        )
        await self._connection.ask(CONSUMER_HEARTBEAT, 1, body)
        self._connection.close()

    async def _beat(self) -> bool:
        """Whether there is something new to confirm."""
        answer = await self._connection.ask(CONSUMER_HEARTBEAT, 1, self._request())
        if answer.error_code != NONE:
            raise RoundFailed(f"a heartbeat was answered with error {answer.error_code}: {answer.error_message}")
        self.epoch = answer.member_epoch
        if answer.assignment is None:
            return False
        held = [(each.topic_id, list(each.partitions)) for each in answer.assignment.topic_partitions]
        before, self.partitions = self.partitions, held[0][1] if held else []
        self._topic_id = held[0][0] if held else b""
        return self.partitions != before

    def _request(self) -> Any:
        api = messages.api(CONSUMER_HEARTBEAT)
        owned = [api.request.TopicPartitions(topic_id=self._topic_id, partitions=self.partitions)]
        return api.Request(
            group_id=self._group,
            member_id=self._id,
            member_epoch=self.epoch,
            rebalance_timeout=SESSION_MS,
            subscribed_topic_names=[self._topic],
            topic_partitions=owned if self.partitions else [],
        )


def consumer_settled(members: Sequence[ConsumerMember], after: int, partitions: int) -> bool:
    """All are in one epoch that came after that one, and together hold every partition once, in equal shares."""
    held = sorted(each for member in members for each in member.partitions)
    shares = {len(member.partitions) for member in members}
    same_epoch = {member.epoch for member in members} == {members[0].epoch} and members[0].epoch > after
    return same_epoch and held == list(range(partitions)) and max(shares) - min(shares) <= 1


async def classic_rebalances_s(address: str, group: str, rounds: int) -> list[float]:
    await await_coordinator(address, group)

    async def one_more() -> ClassicMember:
        return ClassicMember(await Connection.open(address), group)

    members = [await one_more() for _ in range(MEMBERS)]
    return await _rebalances_s(members, one_more, classic_settled, lambda member: member.generation, rounds)


async def consumer_rebalances_s(address: str, group: str, topic: str, partitions: int, rounds: int) -> list[float]:
    await await_coordinator(address, group)
    made = 0

    async def one_more() -> ConsumerMember:
        nonlocal made
        made += 1
        return ConsumerMember(await Connection.open(address), group, topic, f"member-{made:04d}")

    def settled(members: Sequence[ConsumerMember], after: int) -> bool:
        return consumer_settled(members, after, partitions)

    members = [await one_more() for _ in range(MEMBERS)]
    return await _rebalances_s(members, one_more, settled, lambda member: member.epoch, rounds)


async def _rebalances_s(members: Any, one_more: Any, settled: Any, age: Any, rounds: int) -> list[float]:
    async with asyncio.TaskGroup() as group:
        lives = [group.create_task(member.live()) for member in members]
        await _until(lambda: settled(members, 0))
        taken = []
        for _ in range(rounds):
            extra = await one_more()
            before, started = age(members[0]), time.perf_counter()
            life = group.create_task(extra.live())
            await _until(lambda: settled([*members, extra], before))  # noqa: B023
            taken.append(time.perf_counter() - started)
            life.cancel()
            await asyncio.sleep(2 * HEARTBEAT_S)  # its last answer has come
            before, started = age(members[0]), time.perf_counter()
            await extra.leave()
            await _until(lambda: settled(members, before))  # noqa: B023
            taken.append(time.perf_counter() - started)
        for each in lives:
            each.cancel()
    return taken


async def _until(condition: Any) -> None:
    deadline = time.monotonic() + STABLE_S_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise RoundFailed(f"the group was not stable within {STABLE_S_MAX} s")
        await asyncio.sleep(0.002)

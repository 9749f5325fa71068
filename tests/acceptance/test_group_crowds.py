"""10,000 members storm one group while a client works beside them.

The group takes as many as it may, the others are told so in Kafka's words, the broker's memory stays where it was, and
the bystander notices nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.group_requests import SUBSCRIPTION, consumer_heartbeat_request, join_request
from tests.integration.kafka.wire_client import WireClient
from tests.integration.up_process import Up

from .broker_process import broker_pids, forget_peak, peak_bytes, resident_bytes
from .bystander import bystander
from .crowd import Crowd, crowd

CROWD = 10_000
MEMBERS_MAX = 5_000
PARTITIONS = 64
SLACK_BYTES = 192 << 20
"""A member is some kilobytes, its request under way as much again; the rest is a burst in the allocator's hands."""
QUICK = {"group.members_max": MEMBERS_MAX, "group.initial_rebalance_delay_ms": 5_000}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    flags = [flag for name, value in QUICK.items() for flag in ("--set", f"{name}={value}")]
    with Up(tmp_path_factory.mktemp("crowds") / "data", *flags) as running:
        started = broker_pids(running)
        with WireClient(running.kafka) as client:
            client.create_topic("stormed", partitions=PARTITIONS)
        with bystander(running.kafka):
            yield running
        assert broker_pids(running) == started, "a broker process was replaced"
        assert running.stop() == 0
        assert "Traceback" not in running.said()


@pytest.fixture(autouse=True)
def memory_stays_bounded(up: Up) -> Iterator[None]:
    [pid] = broker_pids(up).values()
    before = resident_bytes(pid)
    forget_peak(pid)
    yield
    assert peak_bytes(pid) < before + SLACK_BYTES


def codes(answers: Iterable[Any]) -> Counter[int]:
    return Counter(answer.error_code.value for answer in answers)


def test_a_crowd_joins_by_the_classic_protocol(up: Up) -> None:
    async def storm(many: Crowd) -> None:
        first = await many.ask(11, 9, range(CROWD), lambda _: join("", "classic"))
        assert codes(first.values()) == {
            KafkaError.MEMBER_ID_REQUIRED: MEMBERS_MAX,
            KafkaError.GROUP_MAX_SIZE_REACHED: CROWD - MEMBERS_MAX,
        }
        ids = {number: answer.member_id for number, answer in first.items() if answer.member_id}
        joined = await many.ask(11, 9, ids, lambda number: join(ids[number], "classic"))
        assert codes(joined.values()) == {KafkaError.NONE: MEMBERS_MAX}
        [(leader, led)] = [(number, answer) for number, answer in joined.items() if answer.members]
        assert len(led.members) == MEMBERS_MAX
        synced = await many.ask(14, 5, ids, lambda number: sync(ids, number, leader, led.generation_id))
        assert {bytes(answer.assignment) for answer in synced.values()} == {b"yours"}
        left = await many.ask(13, 5, ids, lambda number: leave(ids[number]))
        assert codes(left.values()) == {KafkaError.NONE: MEMBERS_MAX}

    asyncio.run(stormed(up, 50, storm))


def test_a_crowd_joins_by_the_newer_protocol(up: Up) -> None:
    async def storm(many: Crowd) -> None:
        joined = await many.ask(
            68, 1, range(CROWD), lambda number: consumer_heartbeat_request("newer", ["stormed"], f"m{number}")
        )
        assert codes(joined.values()) == {
            KafkaError.NONE: MEMBERS_MAX,
            KafkaError.GROUP_MAX_SIZE_REACHED: CROWD - MEMBERS_MAX,
        }
        epochs = {number: answer.member_epoch for number, answer in joined.items() if answer.member_epoch}
        held: dict[int, int] = {}
        for _ in range(50):
            answers = await many.ask(68, 1, epochs, lambda number: stay(f"m{number}", epochs[number]))
            assert codes(answers.values()) == {KafkaError.NONE: MEMBERS_MAX}
            for number, answer in answers.items():
                epochs[number] = answer.member_epoch
                if answer.assignment is not None:
                    held[number] = sum(len(each.partitions) for each in answer.assignment.topic_partitions)
            if sum(held.values()) == PARTITIONS:
                return
        raise AssertionError(f"{sum(held.values())} of {PARTITIONS} partitions are assigned")

    asyncio.run(stormed(up, 250, storm))


def test_giant_subscriptions_and_hostile_expressions_are_refused_or_cost_nothing(up: Up) -> None:
    giant = [f"topic-{number:0200}" for number in range(20_000)]
    with WireClient(up.kafka) as client:
        client.create_topic("a" * 200)
        outcomes = [
            client.call(68, 1, consumer_heartbeat_request("giant", giant, f"m{number}")).error_code.value
            for number in range(6)
        ]
        assert set(outcomes) == {KafkaError.NONE, KafkaError.UNKNOWN_SERVER_ERROR}
        for hostile in ("(a+)+b", "(a|a)*c", "(a*)*" * 100 + "d"):
            body = consumer_heartbeat_request("hostile", [])
            body.subscribed_topic_names, body.subscribed_topic_regex = None, hostile
            assert client.call(68, 1, body).error_code.value == KafkaError.NONE
        body.subscribed_topic_regex = "((a{1000}){1000}){1000}"
        assert client.call(68, 1, body).error_code.value == KafkaError.INVALID_REGULAR_EXPRESSION
        wide = join_request(9, "giant-classic", instance="one")
        wide.protocols[0].metadata = bytes(2 << 20)
        assert client.call(11, 9, wide).error_code.value == KafkaError.INVALID_REQUEST


async def stormed(up: Up, connections: int, storm: Any) -> None:
    async with crowd(up.kafka, connections) as many:
        await storm(many)


def join(member_id: str, group: str) -> Any:
    api = messages.api(11)
    return api.Request(
        group_id=group,
        session_timeout=60_000,
        rebalance_timeout=60_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[api.request.JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)],
    )


def sync(ids: dict[int, str], number: int, leader: int, generation: int) -> Any:
    api = messages.api(14)
    given = ids.values() if number == leader else ()
    return api.Request(
        group_id="classic",
        generation_id=generation,
        member_id=ids[number],
        protocol_type="consumer",
        protocol_name="range",
        assignments=[api.request.SyncGroupRequestAssignment(member_id=each, assignment=b"yours") for each in given],
    )


def leave(member_id: str) -> Any:
    api = messages.api(13)
    return api.Request(group_id="classic", members=[api.request.MemberIdentity(member_id=member_id)])


def stay(member_id: str, epoch: int) -> Any:
    body = consumer_heartbeat_request("newer", [], member_id, epoch)
    body.subscribed_topic_names, body.rebalance_timeout = None, -1  # and it holds on to nothing
    return body

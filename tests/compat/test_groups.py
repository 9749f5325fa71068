"""Consumer groups: every client library joins, leaves, crashes, commits, seeks and pauses, by every protocol it has."""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.peers.kafka import Unavailable

from .clients.client import Client, Record
from .clients.members import Flavour, Member, start_member, until, until_shared
from .conftest import GIVEN_BROKER, NewTopic, OpenClient

PARTITIONS = range(4)
PER_PARTITION = 10
SESSION_MS = 6_000 if GIVEN_BROKER in os.environ else 2_000
"""Apache Kafka allows no less than 6 s by default."""
LONG_SESSION_MS = 20_000
"""Time enough for a JVM to come back."""
QUIET_SECONDS = 1.0

EAGER = [Flavour(client, "eager") for client in ("confluent-kafka", "aiokafka", "kafka-python", "kafkajs", "java")]
COOPERATIVE = [Flavour(client, "cooperative") for client in ("confluent-kafka", "kafka-python", "java")]
CONSUMER = [Flavour(client, "consumer") for client in ("confluent-kafka", "java")]
STATIC = [flavour for flavour in (*EAGER, *CONSUMER) if flavour.client != "kafkajs"]  # it has no static members

Start = Callable[..., Member]


def flavours(*lists: list[Flavour]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("flavour", [one for each in lists for one in each], ids="-".join)


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def topic(open_client: OpenClient, new_topic: NewTopic) -> str:
    writer = open_client("confluent-kafka")
    name = new_topic(writer, partitions=len(PARTITIONS))
    with ThreadPoolExecutor(
        len(PARTITIONS)
    ) as at_once:  # each write is a producer of its own, which must first connect
        list(at_once.map(lambda partition: write(writer, name, partition, PER_PARTITION), PARTITIONS))
    return name


@pytest.fixture
def start(bootstrap: str, group: str, topic: str) -> Iterator[Start]:
    """Starts members of the test's group; those still there at its end are killed."""
    started: list[Member] = []

    def one(flavour: Flavour, *, session_ms: int = SESSION_MS, instance: str | None = None) -> Member:
        try:
            member = start_member(flavour, bootstrap, group, topic, session_ms=session_ms, instance=instance)
        except Unavailable as missing:
            pytest.skip(f"{flavour.client}: {missing}")
        started.append(member)
        return member

    yield one
    for member in started:
        member.kill()


def write(client: Client, topic: str, partition: int, count: int) -> None:
    now_ms = int(time.time() * 1000)
    client.write(topic, partition, "none", [Record(key=b"k", value=b"v", timestamp_ms=now_ms) for _ in range(count)])


def everything() -> set[tuple[int, int]]:
    return {(partition, offset) for partition in PARTITIONS for offset in range(PER_PARTITION)}


@flavours(EAGER, COOPERATIVE, CONSUMER)
def test_members_share_a_topic_through_joins_leaves_and_crashes(flavour: Flavour, start: Start) -> None:
    first = start(flavour)
    until_shared([first], PARTITIONS)
    until(lambda: set(first.records) == everything(), lambda: first.records)
    second = start(flavour)
    until_shared([first, second], PARTITIONS)
    if flavour.is_gradual:
        assert len(first.revoked) == len(PARTITIONS) // 2, "it keeps what it need not give up"
    third = start(flavour)
    until_shared([first, second, third], PARTITIONS)
    third.kill()
    until_shared([first, second], PARTITIONS)
    second.leave()
    until_shared([first], PARTITIONS)


@flavours(EAGER, CONSUMER)
def test_a_member_commits_seeks_pauses_and_goes_on(
    flavour: Flavour, start: Start, topic: str, open_client: OpenClient
) -> None:
    writer = open_client("confluent-kafka")
    member = start(flavour)
    until(lambda: set(member.records) == everything(), lambda: member.records)
    assert member.committed() == {}
    member.commit()
    assert member.committed() == dict.fromkeys(PARTITIONS, PER_PARTITION)
    assert member.lag() == dict.fromkeys(PARTITIONS, 0)

    write(writer, topic, 0, 5)
    until(lambda: (0, 14) in member.records, lambda: member.records)
    member.commit_async()
    assert member.committed()[0] == 15

    before = len(member.records)
    member.seek(0, 12)
    until(lambda: member.records[before:] == [(0, 12), (0, 13), (0, 14)], lambda: member.records[before:])

    member.pause(0)
    write(writer, topic, 0, 2)
    write(writer, topic, 1, 1)
    until(lambda: (1, PER_PARTITION) in member.records, lambda: member.records)
    time.sleep(QUIET_SECONDS)
    assert (0, 15) not in member.records
    member.resume(0)
    until(lambda: (0, 16) in member.records, lambda: member.records)

    member.leave()  # what came after the last commit is read again, and nothing else
    later = start(flavour)
    until(lambda: len(later.records) >= 3, lambda: later.records)
    assert sorted(later.records) == [(0, 15), (0, 16), (1, PER_PARTITION)]
    later.commit()
    assert later.committed() == {0: 17, 1: 11, 2: 10, 3: 10}


@flavours(STATIC)
def test_a_static_member_that_comes_back_finds_its_partitions_and_disturbs_nobody(
    flavour: Flavour, start: Start
) -> None:
    stays = start(flavour, session_ms=LONG_SESSION_MS, instance="stays")
    returns = start(flavour, session_ms=LONG_SESSION_MS, instance="returns")
    until_shared([stays, returns], PARTITIONS)
    its_partitions, revoked = returns.assignment, len(stays.revoked)
    # The newer protocol gives an instance back only to whom it was left for; the classic one to whoever comes.
    returns.leave() if flavour.protocol == "consumer" else returns.kill()
    again = start(flavour, session_ms=LONG_SESSION_MS, instance="returns")
    until(lambda: again.assignment == its_partitions, lambda: again.assignment)
    assert len(stays.revoked) == revoked


@pytest.mark.parametrize("client", ["confluent-kafka", "java"])
def test_a_group_moves_to_the_newer_protocol_and_back_while_it_works(client: str, start: Start) -> None:
    classic = start(Flavour(client, "cooperative"))
    until_shared([classic], PARTITIONS)
    newer = start(Flavour(client, "consumer"))
    until_shared([classic, newer], PARTITIONS)
    classic.leave()
    until_shared([newer], PARTITIONS)
    back = start(Flavour(client, "cooperative"))
    until_shared([newer, back], PARTITIONS)
    newer.leave()
    until_shared([back], PARTITIONS)
    until(lambda: set(back.records) == everything(), lambda: back.records)
    back.commit()
    assert back.committed() == dict.fromkeys(PARTITIONS, PER_PARTITION)

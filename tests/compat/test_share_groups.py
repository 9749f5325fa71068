"""Share groups by the Java client and by Apache Kafka's own kafka-share-groups."""

import re
import uuid
from collections import Counter

import pytest

from .clients.java import Java
from .clients.members import until
from .clients.workers import Delivered, Worker, start_worker
from .conftest import NewTopic
from .samples import sample_records
from .test_java_tools import CONFIGS, Run, run

__all__ = ["run"]

SHARES = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
LOCK_MS = 3_000
DELIVERIES_MAX = 3
PER_PARTITION = 30


@pytest.fixture
def group(run: Run) -> str:
    """Begins at the earliest record, with short locks and few deliveries."""
    name = f"share-{uuid.uuid4().hex[:12]}"
    configs = f"share.auto.offset.reset=earliest,share.record.lock.duration.ms={LOCK_MS}"
    configs += f",share.delivery.count.limit={DELIVERIES_MAX}"
    run(CONFIGS, "--entity-type", "groups", "--entity-name", name, "--alter", "--add-config", configs)
    return name


@pytest.fixture(scope="module")
def topic(java: Java, new_topic: NewTopic) -> str:
    """Thirty records in each of two partitions."""
    name = new_topic(java, partitions=2)
    for partition in range(2):
        java.write(name, partition, "none", sample_records(null_header_values=True)[:PER_PARTITION])
    return name


EVERYTHING = {(partition, offset) for partition in range(2) for offset in range(PER_PARTITION)}


def places(records: list[Delivered]) -> Counter[tuple[int, int]]:
    return Counter((one.partition, one.offset) for one in records)


def test_several_members_share_the_records_of_a_partition(bootstrap: str, run: Run, group: str, topic: str) -> None:
    workers = [start_worker(bootstrap, group, topic, records=3) for _ in range(3)]
    until(
        lambda: sum(len(one.records) for one in workers) >= 2 * PER_PARTITION, lambda: [one.records for one in workers]
    )
    assert re.search(rf"{group}\s+Stable", run(SHARES, "--list", "--state"))
    members = run(SHARES, "--describe", "--group", group, "--members", "--verbose")
    assert len(re.findall(rf"^{group}\s", members, re.M)) == 3
    read = [one.leave() for one in workers]
    assert places([each for one in read for each in one]) == Counter(EVERYTHING), "each record once"
    described = run(SHARES, "--describe", "--group", group)
    assert re.findall(rf"{topic}\s+(\d)\s+(\d+)\s+(\d+)", described) == [("0", "30", "0"), ("1", "30", "0")]


def test_what_a_killed_member_held_goes_to_another_one(bootstrap: str, group: str, topic: str) -> None:
    killed = start_worker(bootstrap, group, topic, "hold")
    until(lambda: len(killed.records) > 0, lambda: "nothing")
    held = places(killed.records)
    killed.kill()
    worker = start_worker(bootstrap, group, topic)
    until(lambda: set(places(worker.records)) == EVERYTHING, lambda: worker.records)
    again = worker.leave()
    assert set(places(again)) == EVERYTHING
    assert all(one.deliveries == 2 for one in again if (one.partition, one.offset) in held)


def test_released_records_come_again_until_they_are_given_up(bootstrap: str, run: Run, group: str, topic: str) -> None:
    worker = start_worker(bootstrap, group, topic, "release", records=100)
    until(lambda: len(worker.records) >= DELIVERIES_MAX * 2 * PER_PARTITION, lambda: worker.records)
    until(lambda: described(run, group, topic) == [("30", "0")] * 2, lambda: described(run, group, topic))
    delivered = Counter(one.deliveries for one in worker.leave())
    assert delivered == dict.fromkeys(range(1, DELIVERIES_MAX + 1), 2 * PER_PARTITION)


def test_rejected_records_do_not_come_again_and_offsets_can_be_set_back(
    bootstrap: str, run: Run, group: str, topic: str
) -> None:
    def read_all(habit: str) -> None:
        worker: Worker = start_worker(bootstrap, group, topic, habit)
        until(lambda: set(places(worker.records)) == EVERYTHING, lambda: worker.records)
        assert places(worker.leave()) == Counter(EVERYTHING)

    read_all("reject")
    assert described(run, group, topic) == [("30", "0")] * 2
    run(SHARES, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
    assert described(run, group, topic) == [("0", "30")] * 2
    read_all("accept")
    run(SHARES, "--delete-offsets", "--group", group, "--topic", topic)
    run(SHARES, "--delete", "--group", group)
    assert group not in run(SHARES, "--list").splitlines()


def described(run: Run, group: str, topic: str) -> list[tuple[str, str]]:
    """Start offset and lag of each partition."""
    return re.findall(rf"{topic}\s+\d\s+(\d+)\s+(\d+)", run(SHARES, "--describe", "--group", group))

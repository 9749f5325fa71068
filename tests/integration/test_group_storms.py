"""Long runs of groups, for `make soak`: storms of members and brokers that come, go and are killed; many seeds.

members join, leave and are killed, now and then a broker is killed -> quiet: every partition has one owner, what
was written is read and committed, no commit has gone back -> the next storm
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import confluent_kafka as ck
import pytest

from tests.acceptance.broker_process import broker_pids
from tests.compat.clients.members import Flavour, Member, start_member, until, until_shared
from tests.compat.clients.remote import DriverFailed
from tests.unit.groups.chaos import ClassicClient, ConsumerClient
from tests.unit.groups.test_group_properties import rounds
from tests.unit.groups.virtual import run

from .kafka.wire_client import WireClient
from .up_process import Up

STORM_SECONDS = 60
SEEDS = range(100, 160)
PARTITIONS = 6
MEMBERS_MAX = 5
TOPIC, GROUP = "stormy", "storm"
QUICK = {
    "broker.lease_ms": 3_000,
    "group.initial_rebalance_delay_ms": 100,
    "group.session_timeout_ms_min": 1_000,
    "group.consumer_session_timeout_ms": 6_000,
    "group.consumer_heartbeat_interval_ms": 500,
}

pytestmark = pytest.mark.skipif(not os.environ.get("LAKESTREAM_SOAK"), reason="takes minutes: make soak")


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    flags = [flag for name, value in QUICK.items() for flag in ("--set", f"{name}={value}")]
    with Up(tmp_path / "data", "--brokers", "2", *flags) as running:
        with WireClient(running.kafka.split(",")[0]) as client:
            client.create_topic(TOPIC, partitions=PARTITIONS)
        yield running
        assert "Traceback" not in running.said()


class Storm:
    def __init__(self, up: Up, protocol: str) -> None:
        self.members: list[Member] = []
        self.done: list[str] = []
        self._up = up
        self._flavour = Flavour("confluent-kafka", protocol)
        self._chance = random.Random(protocol)
        prompt = {"enable.idempotence": True, "reconnect.backoff.max.ms": 500}
        self._producer = ck.Producer({"bootstrap.servers": up.kafka, **prompt})
        self._written = 0
        self._committed: dict[int, int] = {}

    def blow(self) -> None:
        """A handful of things go wrong."""
        for _ in range(self._chance.randint(2, 5)):
            what = self._chance.choice([self._come, self._come, self._leave, self._crash, self._kill_broker])
            what()
            self.done.append(what.__name__)

    def settle(self) -> None:
        if not self.members:
            self._come()
        self._write(10)
        until_shared(self.members, range(PARTITIONS))
        until(self._all_committed, lambda: (self._committed, self._written, self.done))

    def close(self) -> None:
        for member in self.members:
            member.kill()

    def _come(self) -> None:
        if len(self.members) < MEMBERS_MAX:
            self.members.append(start_member(self._flavour, self._up.kafka, GROUP, TOPIC, session_ms=6_000))

    def _leave(self) -> None:
        if self.members:
            self.members.pop(self._chance.randrange(len(self.members))).leave()

    def _crash(self) -> None:
        if self.members:
            self.members.pop(self._chance.randrange(len(self.members))).kill()

    def _kill_broker(self) -> None:
        pids = list(broker_pids(self._up).values())
        if len(pids) == 2:  # the other one is back
            os.kill(self._chance.choice(pids), signal.SIGKILL)

    def _write(self, count: int) -> None:
        for partition in range(PARTITIONS):
            for _ in range(count):
                self._producer.produce(TOPIC, b"v", partition=partition)
        assert self._producer.flush(60) == 0
        self._written += count

    def _all_committed(self) -> bool:
        """Everyone commits what it has read. Nothing that was committed may go back."""
        for member in self.members:
            with suppress(DriverFailed):  # it has nothing new, or is on its way to another coordinator
                member.commit()
        found: dict[int, int] = {}
        for member in self.members:
            with suppress(DriverFailed):
                found |= member.committed()
        gone_back = {one for one, offset in self._committed.items() if found.get(one, offset) < offset}
        assert not gone_back, (found, self._committed, self.done)
        self._committed |= found
        return self._committed == dict.fromkeys(range(PARTITIONS), self._written)


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_group_comes_to_rest_after_every_storm(up: Up, protocol: str) -> None:
    storm, until_then = Storm(up, protocol), time.monotonic() + STORM_SECONDS
    storms = 0
    try:
        while time.monotonic() < until_then:
            storm.blow()
            storm.settle()
            storms += 1
    finally:
        storm.close()
    print(f"{protocol}: {storms} storms, {len(storm.done)} things that went wrong")
    assert storms > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_more_seeds_of_the_groups_properties(seed: int) -> None:
    run(rounds(seed, [ClassicClient, ConsumerClient]), seed)

"""A cluster as it is run in earnest: brokers and gateway as processes of their own over PostgreSQL and S3."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.behaviour.test_objects import BUCKET, s3_options
from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.requests import request_for
from tests.integration.kafka.wire_client import WireClient, fetch_request, produce_request
from tests.postgres_server import cut_connections, missing_server, postgres_server

from .broker_process import paused
from .bystander import bystander
from .cluster_processes import Cluster, http_status
from .group_readers import outlive
from .patient import produce_until_stored

LEASE_MS = 2_000
LONG_POLL_MS = 20_000
PARTITIONS = 16
PATIENCE_SECONDS = 30

__all__ = ["s3_options"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if (missing := missing_server()) is not None:
        pytest.skip(missing)
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="module")
def cluster(postgres: str, s3_options: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Brokers 1 in zone a and 2 in zone b."""
    settings = {
        "metadata": postgres,
        "objects": f"s3://{BUCKET}/acceptance",
        "objects_options": ",".join(f"{name}={value}" for name, value in s3_options.items()),
        "broker.lease_ms": str(LEASE_MS),
        "wal.puts_per_second": "50",
    }
    with Cluster(tmp_path_factory.mktemp("cluster"), **settings) as running:
        for part in (running.broker(1, rack="a"), running.broker(2, rack="b"), running.gateway()):
            part.wait_until_ready()
        wait_until_live(running, {1, 2})
        yield running


def told(address: str, topic: str, client_id: str = "client") -> tuple[set[int], set[int]]:
    """Brokers alive, and those named as leaders of the topic's partitions."""
    with WireClient(address, client_id=client_id) as client:
        metadata = client.call(3, 12, request_for(3, 12, topic, bytes(16)))
    leaders = {part.leader_id for seen in metadata.topics for part in seen.partitions}
    return {broker.node_id for broker in metadata.brokers}, leaders


def wait_until_live(cluster: Cluster, brokers: set[int]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    for number in brokers:
        while told(cluster.kafka[number], "any")[0] != brokers:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.fixture(scope="module")
def zoned(cluster: Cluster) -> str:
    """A topic of many partitions."""
    with WireClient(cluster.kafka[1]) as client:
        client.create_topic("zoned", partitions=PARTITIONS)
    return "zoned"


def test_what_one_broker_takes_in_the_other_serves_at_once(cluster: Cluster) -> None:
    with WireClient(cluster.kafka[1]) as writer, WireClient(cluster.kafka[2]) as reader:
        writer.create_topic("shared")
        for number in range(5):
            asked = reader.send(1, 12, fetch_request({"shared": {0: number}}, max_wait=LONG_POLL_MS))
            assert produce_until_stored(writer, "shared", batch([b"%d" % number])) == number
            [topic] = reader.receive(1, 12, asked).responses
            [part] = topic.partitions
            assert [record.value for record in records(part.records)] == [b"%d" % number]


@pytest.mark.parametrize(("client_id", "leaders"), [("app,zone=a", {1}), ("app,zone=b", {2}), ("app,zone=c", {1, 2})])
def test_a_client_that_names_its_zone_is_sent_to_the_broker_there(
    client_id: str, leaders: set[int], cluster: Cluster, zoned: str
) -> None:
    for address in cluster.kafka.values():
        assert told(address, zoned, client_id) == ({1, 2}, leaders)


def test_the_gateway_tells_of_both_brokers(cluster: Cluster) -> None:
    assert http_status(cluster.http, "/healthz")[0] == 200
    status, body = http_status(cluster.http, "/readyz")
    assert (status, json.loads(body)["ready"]) == (200, True)
    metrics = http_status(cluster.http, "/metrics")[1]
    assert 'broker="1"' in metrics
    assert 'broker="2"' in metrics


def test_cut_database_connections_are_made_anew_and_no_client_notices(cluster: Cluster, postgres: str) -> None:
    with bystander(cluster.bootstrap, "cut") as working:
        for _ in range(3):
            assert cut_connections(postgres) > 0
            working.works_on(30)


def test_what_a_sleeping_broker_held_is_stored_only_if_it_is_acknowledged(cluster: Cluster) -> None:
    """A batch waits in its socket while it sleeps past its lease; another producer writes through the other broker."""
    with WireClient(cluster.kafka[1]) as asleep, WireClient(cluster.kafka[2]) as awake:
        awake.create_topic("held")
        assert produce_until_stored(asleep, "held", batch([b"before"])) == 0
        with paused(cluster.parts["broker-1"].process.pid, 2 * LEASE_MS / 1000):
            sent = asleep.send(0, 9, produce_request({"held": {0: batch([b"held"])}}))
            wait_until_live(cluster, {2})
            assert produce_until_stored(awake, "held", batch([b"meanwhile"])) == 1
        [topic] = asleep.receive(0, 9, sent).responses
        [part] = topic.partition_responses
        acknowledged = [b"held"] if part.error_code.value == 0 else []
        stored = [record.value for record in records(awake.fetch("held", 0).records)]
        assert stored == [b"before", b"meanwhile", *acknowledged]
        wait_until_live(cluster, {1, 2})
        assert produce_until_stored(asleep, "held", batch([b"after"])) == len(stored), "it has registered anew"


def test_a_sleeping_broker_under_load_loses_and_doubles_nothing(cluster: Cluster) -> None:
    with bystander(cluster.bootstrap, "slept", notices_errors=False) as working:
        [sleeper] = told(cluster.kafka[2], "slept")[1]
        [other] = {1, 2} - {sleeper}
        with paused(cluster.parts[f"broker-{sleeper}"].process.pid, 2 * LEASE_MS / 1000):
            wait_until_live(cluster, {other})
        working.works_on(50)
        wait_until_live(cluster, {1, 2})
        working.works_on(50)


def test_a_group_goes_on_when_its_coordinator_is_killed(cluster: Cluster) -> None:
    killed: list[int] = []

    def kill(coordinator: int) -> None:
        killed.append(coordinator)
        cluster.parts[f"broker-{coordinator}"].kill()

    outlive(cluster.bootstrap, "consumer", kill, ask=lambda: cluster.kafka[1])
    [coordinator] = killed
    cluster.broker(coordinator, rack="ab"[coordinator - 1]).wait_until_ready()
    wait_until_live(cluster, {1, 2})


def test_clients_carry_on_when_a_broker_is_killed_and_its_zone_is_served_by_the_other(cluster: Cluster) -> None:
    victim = cluster.parts["broker-1"]
    with bystander(cluster.bootstrap, "killed", notices_errors=False) as working:
        victim.kill()
        working.works_on(50)
        wait_until_live(cluster, {2})
        assert told(cluster.kafka[2], "killed", "zone=a") == ({2}, {2}), "being served beats being near"
        back = cluster.broker(1, rack="a")
        back.wait_until_ready()
        wait_until_live(cluster, {1, 2})
        working.works_on(50)
    assert back.stop() == 0
    wait_until_live(cluster, {2})

"""Metadata, FindCoordinator and DescribeCluster: what clients are told about brokers and topics."""

import threading
from collections import Counter
from typing import Any

import pytest

from lakestream.broker.broker import BrokerLimits
from lakestream.protocol.kafka.wire import messages
from lakestream.testing.local import LocalLakestream

from .running import Running, running
from .wire_client import WireClient

UNKNOWN_TOPIC, INVALID_TOPIC, INVALID_REQUEST, INVALID_TIMEOUT, UNKNOWN_TOPIC_ID = 3, 17, 42, 50, 100
INT32_MIN = -(2**31)
metadata = messages.api(3)


def _ask(client: WireClient, *names: str, version: int = 12, **options: Any) -> Any:
    topics = [metadata.request.MetadataRequestTopic(name=name) for name in names]
    return client.call(3, version, metadata.Request(topics=topics, **options))


def test_brokers_cluster_and_controller_are_the_same_everywhere(client: WireClient, other_client: WireClient) -> None:
    one, other = _ask(client), _ask(other_client)
    assert [each.node_id for each in one.brokers] == [1, 2]
    assert one == other
    assert one.controller_id in {each.node_id for each in one.brokers}
    assert one.cluster_id


def test_partitions_are_spread_over_the_brokers_and_all_agree(
    name: str, client: WireClient, other_client: WireClient
) -> None:
    client.create_topic(name, partitions=64)
    (one,), (other,) = _ask(client, name).topics, _ask(other_client, name).topics
    assert one == other
    leaders = Counter(each.leader_id for each in one.partitions)
    assert set(leaders) == {1, 2}
    assert min(leaders.values()) > 16
    for each in one.partitions:
        assert (each.leader_epoch, each.offline_replicas) == (0, ())
        assert each.replica_nodes == each.isr_nodes == (each.leader_id,)


def test_null_topics_mean_all_and_none_mean_none_except_in_version_0(topic: str, client: WireClient) -> None:
    everything = metadata.Request(topics=None)
    assert topic in {each.name for each in client.call(3, 1, everything).topics}
    assert topic in {each.name for each in client.call(3, 12, everything).topics}
    assert client.call(3, 1, metadata.Request(topics=[])).topics == ()
    assert topic in {each.name for each in client.call(3, 0, metadata.Request(topics=[])).topics}


def test_a_topic_is_found_by_id_from_version_12_on(name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    asked = [metadata.request.MetadataRequestTopic(topic_id=each) for each in (topic_id, bytes(15) + b"\x01")]
    known, unknown = client.call(3, 12, metadata.Request(topics=asked)).topics
    assert (known.name, known.error_code.value) == (name, 0)
    assert (unknown.name, unknown.error_code.value) == (None, UNKNOWN_TOPIC_ID)
    named = metadata.request.MetadataRequestTopic(name="", topic_id=topic_id)
    (refused,) = client.call(3, 11, metadata.Request(topics=[named])).topics
    assert refused.error_code.value == INVALID_REQUEST


def test_an_unknown_topic_is_created_only_where_the_request_allows(name: str, client: WireClient) -> None:
    (refused,) = _ask(client, name, allow_auto_topic_creation=False).topics
    assert (refused.error_code.value, refused.partitions) == (UNKNOWN_TOPIC, ())
    (created,) = _ask(client, name).topics
    assert (created.error_code.value, len(created.partitions)) == (0, 1)
    assert created.topic_id is not None


@pytest.mark.parametrize("creating", [True, False])
@pytest.mark.parametrize("bad", ["", ".", "..", "a b", "ä", "x" * 250])
def test_a_bad_name_is_refused(bad: str, creating: bool, client: WireClient) -> None:
    (answer,) = _ask(client, bad, allow_auto_topic_creation=creating).topics
    assert answer.error_code.value == INVALID_TOPIC


def test_everyone_who_asks_for_the_same_new_topic_at_once_gets_it(name: str, lakestream: Running) -> None:
    answers: list[Any] = []
    together = threading.Barrier(12)

    def ask(address: str) -> None:
        with WireClient(address) as one:
            together.wait(10)
            answers.extend(_ask(one, name).topics)

    askers = [threading.Thread(target=ask, args=(lakestream.addresses[at % 2],)) for at in range(12)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(30)
    assert [(each.error_code.value, each.topic_id) for each in answers] == [(0, answers[0].topic_id)] * 12


def test_authorized_operations_are_told_when_asked_for(topic: str, client: WireClient) -> None:
    silent = _ask(client, topic, version=8)
    assert silent.cluster_authorized_operations == INT32_MIN
    assert silent.topics[0].topic_authorized_operations == INT32_MIN
    told = _ask(
        client,
        topic,
        version=8,
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    assert told.topics[0].topic_authorized_operations == 0b1101_1111_1000
    assert told.cluster_authorized_operations == 0b1_1111_1010_0000


def test_a_broker_that_creates_nothing_and_zones_that_are_kept() -> None:
    limits = BrokerLimits(auto_create_topics=False)
    with running(LocalLakestream(brokers=3, racks=("a", "b", "b"), limits=limits)) as service:
        address = service.addresses[0]
        with WireClient(address) as client:
            assert _ask(client, "absent").topics[0].error_code.value == UNKNOWN_TOPIC
            client.create_topic("here", partitions=32)
        leaders = {}
        for zone in ("a", "b", "nowhere"):
            with WireClient(address, client_id=f"app,zone={zone}") as client:
                leaders[zone] = {each.leader_id for each in _ask(client, "here").topics[0].partitions}
        assert leaders == {"a": {1}, "b": {2, 3}, "nowhere": {1, 2, 3}}


# --- FindCoordinator


def test_brokers_agree_on_the_coordinators_of_groups(client: WireClient, other_client: WireClient) -> None:
    api = messages.api(10)
    body = api.Request(coordinator_keys=[f"group-{at}" for at in range(40)])
    one, other = client.call(10, 6, body).coordinators, other_client.call(10, 6, body).coordinators
    assert one == other
    assert {each.node_id for each in one} == {1, 2}
    alone = client.call(10, 2, api.Request(key="group-0"))
    assert (alone.node_id, alone.host, alone.port) == (one[0].node_id, one[0].host, one[0].port)


@pytest.mark.parametrize(("key_type", "code"), [(2, INVALID_REQUEST), (9, INVALID_REQUEST)])
def test_what_has_no_coordinator_is_refused_with_a_reason(key_type: int, code: int, client: WireClient) -> None:
    api = messages.api(10)
    (answer,) = client.call(10, 6, api.Request(key_type=key_type, coordinator_keys=["x"])).coordinators
    assert (answer.error_code.value, answer.node_id) == (code, -1)
    assert answer.error_message


# --- DescribeCluster


def test_the_cluster_is_described_and_controllers_are_not(client: WireClient) -> None:
    api = messages.api(60)
    answer = client.call(60, 2, api.Request(endpoint_type=1))
    assert [each.broker_id for each in answer.brokers] == [1, 2]
    assert answer.cluster_id == _ask(client).cluster_id
    assert client.call(60, 2, api.Request(endpoint_type=2)).error_code.value == 114
    assert client.call(60, 2, api.Request(endpoint_type=7)).error_code.value == 115


# --- InitProducerId


def test_producer_ids_are_unique_over_brokers(client: WireClient, other_client: WireClient) -> None:
    answers = [each.call(22, 4, messages.api(22).Request()) for each in (client, other_client) * 5]
    assert len({each.producer_id for each in answers}) == 10
    assert {each.producer_epoch for each in answers} == {0}


@pytest.mark.parametrize(
    ("transactional_id", "timeout_ms", "code"),
    [
        ("", 1_000, INVALID_REQUEST),
        ("x" * 2_000, 1_000, INVALID_REQUEST),
        ("tx", 0, INVALID_TIMEOUT),
        ("tx", 900_001, INVALID_TIMEOUT),
    ],
)
def test_an_impossible_transactional_producer_is_refused(
    transactional_id: str, timeout_ms: int, code: int, client: WireClient
) -> None:
    request = messages.api(22).Request(transactional_id=transactional_id, transaction_timeout=timeout_ms)
    answer = client.call(22, 4, request)
    assert (answer.error_code.value, answer.producer_id) == (code, -1)


@pytest.mark.parametrize(("producer", "code"), [((7, -1), INVALID_REQUEST), ((-1, 7), INVALID_REQUEST), ((7, 7), 0)])
def test_a_producers_last_id_comes_with_its_epoch(producer: tuple[int, int], code: int, client: WireClient) -> None:
    request = messages.api(22).Request(producer_id=producer[0], producer_epoch=producer[1])
    assert client.call(22, 4, request).error_code.value == code

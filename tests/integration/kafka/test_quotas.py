"""Quotas over the wire: set and shown by Kafka's APIs, told in answers, and held against clients that do not listen."""

import select
from collections.abc import Iterator
from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages
from lakestream.testing.local import LocalLakestream

from .batches import batch
from .running import Running, running
from .wire_client import WireClient

PRODUCE, FETCH, METADATA, DESCRIBE, ALTER = 0, 1, 3, 48, 49
INVALID_REQUEST = 42
USER, CLIENT = "user", "client-id"
RATES = ("producer_byte_rate", "consumer_byte_rate", "request_percentage")
ANY = 2


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    with running(LocalLakestream()) as service:
        with WireClient(service.addresses[0]) as client:
            creation = messages.api(19)
            topic = creation.request.CreatableTopic(name="orders", num_partitions=1, replication_factor=1)
            assert client.call(19, 5, creation.Request(topics=[topic], timeout=10_000)).topics[0].error_code == 0
        yield service


@pytest.fixture
def admin(service: Running) -> Iterator[WireClient]:
    with WireClient(service.addresses[0], client_id="admin") as client:
        yield client
        for entity in _described(client):
            _alter(client, dict(entity), dict.fromkeys(RATES))


def _alter(client: WireClient, entity: dict[str, str | None], values: dict[str, float | None], **flags: Any) -> Any:
    api = messages.api(ALTER)
    entry = api.request.EntryData(
        entity=[api.request.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[api.request.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()],
    )
    (answer,) = client.call(ALTER, 1, api.Request(entries=[entry], **flags)).entries
    return answer


def _described(client: WireClient, *components: Any, strict: bool = False) -> dict[Any, dict[str, float]]:
    answer = client.call(DESCRIBE, 1, messages.api(DESCRIBE).Request(components=list(components), strict=strict))
    assert answer.error_code == 0, answer.error_message
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity): {
            value.key: value.value for value in entry.values
        }
        for entry in answer.entries
    }


def _component(kind: str, match_type: int, match: str | None = None) -> Any:
    return messages.api(DESCRIBE).request.ComponentData(entity_type=kind, match_type=match_type, match=match)


def _produce(client: WireClient, bytes: int) -> Any:
    api = messages.api(PRODUCE)
    data = api.request.PartitionProduceData(index=0, records=batch([b"x" * bytes]))
    topic = api.request.TopicProduceData(name="orders", partition_data=[data])
    answer = client.call(PRODUCE, 9, api.Request(acks=-1, timeout=10_000, topic_data=[topic]))
    assert answer.responses[0].partition_responses[0].error_code == 0
    return answer


def _fetch(client: WireClient) -> Any:
    api = messages.api(FETCH)
    part = api.request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = api.request.FetchTopic(topic="orders", partitions=[part])
    return client.call(FETCH, 11, api.Request(max_wait=0, min_bytes=1, max_bytes=1 << 20, topics=[topic]))


def test_quotas_are_shown_by_what_they_belong_to(admin: WireClient) -> None:
    alice, app, everyone = {USER: "alice"}, {USER: "alice", CLIENT: "app"}, {USER: None}
    for number, entity in enumerate((alice, app, everyone)):
        assert _alter(admin, entity, {"producer_byte_rate": 1000.0 + number}).error_code == 0
    keys = [tuple(entity.items()) for entity in (alice, app, everyone)]
    assert set(_described(admin)) == set(keys)
    assert set(_described(admin, _component(USER, 0, "alice"))) == {keys[0], keys[1]}
    assert set(_described(admin, _component(USER, 0, "alice"), strict=True)) == {keys[0]}
    assert _described(admin, _component(USER, 1)) == {keys[2]: {"producer_byte_rate": 1002.0}}
    assert set(_described(admin, _component(USER, ANY), _component(CLIENT, ANY))) == {keys[1]}


@pytest.mark.parametrize(
    ("entity", "values", "said"),
    [
        ({"ip": "10.0.0.1"}, {"connection_creation_rate": 1.0}, "connections_per_address_max"),
        ({USER: "alice"}, {"controller_mutation_rate": 1.0}, "there is no quota"),
        ({USER: "alice"}, {"producer_byte_rate": -1.0}, "above 0"),
        ({"robot": "alice"}, {"producer_byte_rate": 1.0}, "no entity type"),
    ],
)
def test_what_nobody_would_hold_is_refused(admin: WireClient, entity: Any, values: Any, said: str) -> None:
    answer = _alter(admin, entity, values)
    assert answer.error_code == INVALID_REQUEST and said in answer.error_message
    assert _described(admin) == {}


def test_a_change_that_is_only_validated_is_not_made(admin: WireClient) -> None:
    assert _alter(admin, {USER: "alice"}, {"producer_byte_rate": 1.0}, validate_only=True).error_code == 0
    assert _described(admin) == {}


def test_a_producer_over_its_quota_is_told_and_must_wait_while_others_go_on(
    service: Running, admin: WireClient
) -> None:
    assert _alter(admin, {CLIENT: "greedy"}, {"producer_byte_rate": 1000.0}).error_code == 0
    metadata = messages.api(METADATA)
    with WireClient(service.addresses[0], client_id="greedy") as greedy:
        assert _produce(greedy, 100).throttle_time.total_seconds() == 0
        assert _produce(greedy, 6000).throttle_time.total_seconds() > 1
        asked = greedy.send(METADATA, 9, metadata.Request(topics=[]))
        with WireClient(service.addresses[0], client_id="modest") as modest:
            for _ in range(20):
                assert _produce(modest, 6000).throttle_time.total_seconds() == 0
        assert select.select([greedy], [], [], 0)[0] == [], "its next request waits"
        greedy.receive(METADATA, 9, asked)
    assert service.local.metrics[0]._counts["throttled_connections"] == 1


def test_a_consumer_over_its_quota_gets_its_records_and_is_told_to_wait(service: Running, admin: WireClient) -> None:
    _produce(admin, 6000)
    assert _alter(admin, {USER: "ANONYMOUS", CLIENT: "reader"}, {"consumer_byte_rate": 2000.0}).error_code == 0
    with WireClient(service.addresses[0], client_id="reader") as reader:
        answer = _fetch(reader)
        assert len(answer.responses[0].partitions[0].records) > 6000
        assert answer.throttle_time.total_seconds() > 1


def test_time_that_requests_take_is_counted(service: Running, admin: WireClient) -> None:
    assert _alter(admin, {CLIENT: "busy"}, {"request_percentage": 0.0001}).error_code == 0
    with WireClient(service.addresses[0], client_id="busy") as busy:
        answers = [busy.call(METADATA, 9, messages.api(METADATA).Request(topics=[])) for _ in range(2)]
        assert max(answer.throttle_time.total_seconds() for answer in answers) > 0


def test_a_quota_holds_at_every_broker() -> None:
    with running(LocalLakestream(brokers=2)) as service:
        with WireClient(service.addresses[0], client_id="admin") as admin:
            assert _alter(admin, {CLIENT: "greedy"}, {"request_percentage": 0.0001}).error_code == 0
        with WireClient(service.addresses[1], client_id="greedy") as greedy:
            for _ in range(1000):
                if greedy.call(METADATA, 9, messages.api(METADATA).Request(topics=[])).throttle_time.total_seconds():
                    return
        pytest.fail("the second broker never heard of it")

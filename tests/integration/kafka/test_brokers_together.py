"""Brokers over one store: a producer that moves between them, one that dies, and all of them started again."""

import time
from pathlib import Path

from lakestream.broker.broker import BrokerLimits
from lakestream.protocol.kafka.wire import messages
from lakestream.testing.local import LocalLakestream

from .batches import batch, records
from .running import running
from .wire_client import WireClient, produce_request


def test_a_batch_that_overtakes_its_predecessor_through_another_broker_waits_for_it(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    producer = client.call(22, 4, messages.api(22).Request()).producer_id
    first, second, third = (batch([b"%d" % at], producer=(producer, 0, at)) for at in range(3))
    assert client.produce(topic, first).base_offset == 0
    overtaking = other_client.send(0, 9, produce_request({topic: {0: third}}))
    time.sleep(0.2)  # it has been tried by now
    assert client.produce(topic, second).base_offset == 1
    ((answer,),) = [each.partition_responses for each in other_client.receive(0, 9, overtaking).responses]
    assert (answer.error_code.value, answer.base_offset) == (0, 2)


def test_a_batch_repeated_at_another_broker_is_stored_once(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    producer = client.call(22, 4, messages.api(22).Request()).producer_id
    for at in range(5):
        data = batch([b"%d" % at], producer=(producer, 0, at))
        assert [each.produce(topic, data).base_offset for each in (client, other_client)] == [at, at]
    assert len(records(client.fetch(topic, 0).records)) == 5


def test_what_was_acknowledged_is_there_after_a_restart(tmp_path: Path) -> None:
    def service() -> LocalLakestream:
        return LocalLakestream(
            brokers=2, metadata=f"sqlite://{tmp_path}/metadata.db", objects=(tmp_path / "objects").as_uri()
        )

    with running(service()) as before, WireClient(before.addresses[0]) as client:
        topic_id = client.create_topic("kept", partitions=2, retention_ms="-1").topic_id
        for at in range(5):
            client.produce("kept", batch([b"%d" % at]), partition=1)
    with running(service()) as after, WireClient(after.addresses[1]) as client:
        (topic,) = client.call(3, 12, messages.api(3).Request(topics=None)).topics
        assert (topic.name, topic.topic_id) == ("kept", topic_id)
        stored = records(client.fetch("kept", 0, partition=1).records)
        assert [each.value for each in stored] == [b"%d" % at for at in range(5)]
        assert client.produce("kept", batch(), partition=1).base_offset == 5


def test_a_broker_whose_lease_ran_out_is_named_no_more() -> None:
    service_of_two = LocalLakestream(brokers=2, limits=BrokerLimits(lease_ms=600))
    with running(service_of_two) as service, WireClient(service.addresses[0]) as client:
        client.create_topic("t", partitions=16)
        service.run(service.local.brokers[1].tasks.close())  # it renews no more, as after a crash
        deadline = time.monotonic() + 20
        while len(_brokers(client)) > 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _brokers(client) == {1}
        asked = [messages.api(3).request.MetadataRequestTopic(name="t")]
        (topic,) = client.call(3, 12, messages.api(3).Request(topics=asked)).topics
        assert {each.leader_id for each in topic.partitions} == {1}


def test_a_broker_without_a_lease_does_not_name_itself_coordinator() -> None:
    alone = LocalLakestream(limits=BrokerLimits(lease_ms=600))
    with running(alone) as service, WireClient(service.addresses[0]) as client:
        asked = messages.api(10).Request(key_type=0, coordinator_keys=["a-group"])
        assert client.call(10, 4, asked).coordinators[0].error_code.value == 0
        service.run(service.local.brokers[0].tasks.close())  # it renews no more, as when the store is away
        deadline = time.monotonic() + 20
        while (found := client.call(10, 4, asked).coordinators[0]).error_code.value == 0:
            assert time.monotonic() < deadline, "it still believes in its lease"
            time.sleep(0.05)
        assert (found.error_code.value, found.node_id) == (15, -1)


def _brokers(client: WireClient) -> set[int]:
    return {each.node_id for each in client.call(3, 12, messages.api(3).Request(topics=[])).brokers}

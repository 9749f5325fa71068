"""Fetch: whole batches from an offset on, and waiting for them."""

import threading
import time

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import batch, records
from .running import Running
from .wire_client import WireClient, fetch_request

OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC, SESSION_NOT_FOUND, UNKNOWN_LEADER_EPOCH, UNKNOWN_TOPIC_ID = 1, 3, 70, 75, 100
BATCH = batch([b"a", b"b", b"c"])


def _values(data: bytes) -> list[bytes]:
    return [each.value for each in records(data)]


def test_an_offset_inside_a_batch_brings_the_whole_batch(topic: str, client: WireClient) -> None:
    for _ in range(3):
        client.produce(topic, BATCH)
    answer = client.fetch(topic, 4)
    assert [each.offset for each in records(answer.records)] == [3, 4, 5, 6, 7, 8]
    assert (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset) == (9, 9, 0)


def test_a_batch_larger_than_the_limits_comes_alone(topic: str, client: WireClient) -> None:
    for _ in range(3):
        client.produce(topic, BATCH)
    assert [each.offset for each in records(client.fetch(topic, 3, partition_max_bytes=10).records)] == [3, 4, 5]
    assert [each.offset for each in records(client.fetch(topic, 3, max_bytes=1).records)] == [3, 4, 5]
    answer = client.fetch(topic, 3, max_bytes=0, partition_max_bytes=0)
    assert [each.offset for each in records(answer.records)] == [3, 4, 5]


def test_as_many_batches_come_as_fit(topic: str, client: WireClient) -> None:
    for _ in range(3):
        client.produce(topic, BATCH)
    answer = client.fetch(topic, 0, partition_max_bytes=2 * len(BATCH) + 10)
    assert len(records(answer.records)) == 6


def test_partitions_share_the_bytes_of_a_request_in_their_order(topic: str, client: WireClient) -> None:
    for partition in range(3):
        client.produce(topic, BATCH, partition=partition)
    body = fetch_request({topic: {2: 0, 0: 0, 1: 0}}, max_bytes=len(BATCH))
    (answer,) = client.call(1, 12, body).responses
    assert [(each.partition_index, len(each.records or b"")) for each in answer.partitions] == [
        (2, len(BATCH)),
        (0, 0),
        (1, 0),
    ]


def test_the_end_of_the_log_has_no_records_and_no_error(topic: str, client: WireClient) -> None:
    client.produce(topic, BATCH)
    answer = client.fetch(topic, 3)
    assert (answer.error_code.value, answer.records, answer.high_watermark) == (0, b"", 3)


@pytest.mark.parametrize("offset", [-1, 4, 10**12])
def test_an_offset_outside_the_log_is_out_of_range(offset: int, topic: str, client: WireClient) -> None:
    client.produce(topic, BATCH)
    assert client.fetch(topic, offset).error_code.value == OFFSET_OUT_OF_RANGE


def test_an_unknown_partition_does_not_touch_the_others(topic: str, client: WireClient) -> None:
    client.produce(topic, BATCH)
    first, second = client.call(1, 12, fetch_request({topic: {0: 0, 9: 0}, "nowhere": {0: 0}})).responses
    assert [each.error_code.value for each in first.partitions] == [0, UNKNOWN_TOPIC]
    assert [each.error_code.value for each in second.partitions] == [UNKNOWN_TOPIC]
    assert len(records(first.partitions[0].records)) == 3


def test_a_topic_is_found_by_id(name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    client.produce(name, BATCH)
    api = messages.api(1)
    part = api.request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    ids = topic_id, bytes(15) + b"\x01", bytes(16)
    asked = [api.request.FetchTopic(topic_id=each, partitions=[part]) for each in ids]
    known, *unknown = client.call(1, 18, api.Request(max_bytes=1000, topics=asked)).responses
    assert known.topic_id.bytes == topic_id
    assert len(records(known.partitions[0].records)) == 3
    assert [each.partitions[0].error_code.value for each in unknown] == [UNKNOWN_TOPIC_ID] * 2


@pytest.mark.parametrize(("session_id", "session_epoch"), [(0, 0), (0, -1), (17, 0), (17, -1)])
def test_a_full_fetch_is_served_without_a_session(
    session_id: int, session_epoch: int, topic: str, client: WireClient
) -> None:
    client.produce(topic, BATCH)
    body = fetch_request({topic: {0: 0}}, session_id=session_id, session_epoch=session_epoch)
    answer = client.call(1, 12, body)
    assert (answer.error_code.value, answer.session_id) == (0, 0)
    assert len(records(answer.responses[0].partitions[0].records)) == 3


@pytest.mark.parametrize("session_id", [0, 17])
def test_an_incremental_fetch_is_told_that_there_is_no_session(session_id: int, topic: str, client: WireClient) -> None:
    answer = client.call(1, 12, fetch_request({topic: {0: 0}}, session_id=session_id, session_epoch=3))
    assert (answer.error_code.value, answer.session_id, answer.responses) == (SESSION_NOT_FOUND, 0, ())


def test_a_later_leader_epoch_is_unknown_and_0_is_the_current_one(topic: str, client: WireClient) -> None:
    codes = [client.fetch(topic, 0, leader_epoch=epoch).error_code.value for epoch in (-1, 0, 1)]
    assert codes == [0, 0, UNKNOWN_LEADER_EPOCH]


def test_aborted_transactions_are_an_empty_list_only_for_those_who_read_committed(
    topic: str, client: WireClient
) -> None:
    assert client.fetch(topic, 0, isolation_level=0).aborted_transactions is None
    assert client.fetch(topic, 0, isolation_level=1).aborted_transactions == ()


def test_a_fetch_waits_for_as_long_as_it_may(topic: str, client: WireClient) -> None:
    started = time.monotonic()
    answer = client.fetch(topic, 0, max_wait=300)
    assert time.monotonic() - started >= 0.29
    assert (answer.error_code.value, answer.records) == (0, b"")


@pytest.mark.parametrize("through", ["the same broker", "another broker"])
def test_a_waiting_fetch_is_woken_by_a_produce(
    through: str, topic: str, client: WireClient, lakestream: Running
) -> None:
    waiting = client.send(1, 12, fetch_request({topic: {0: 0, 1: 0, 2: 0}}, max_wait=20_000))
    time.sleep(0.3)  # it waits by now
    started = time.monotonic()
    with WireClient(lakestream.addresses[0 if through == "the same broker" else 1]) as producer:
        producer.produce(topic, BATCH, partition=1)
    (answer,) = client.receive(1, 12, waiting).responses
    assert time.monotonic() - started < 15, "it was the produce that ended the wait"
    assert _values(answer.partitions[1].records) == [b"a", b"b", b"c"]


def test_a_fetch_waits_until_there_are_enough_bytes(topic: str, client: WireClient, other_client: WireClient) -> None:
    waiting = client.send(1, 12, fetch_request({topic: {0: 0}}, max_wait=20_000, min_bytes=2 * len(BATCH)))
    other_client.produce(topic, BATCH)
    other_client.produce(topic, BATCH)
    (answer,) = client.receive(1, 12, waiting).responses
    assert len(records(answer.partitions[0].records)) == 6


def test_a_waiting_fetch_does_not_hold_up_a_produce_of_the_same_connection(topic: str, client: WireClient) -> None:
    """Its own: the produce wakes it, so it could not come before the fetch's answer otherwise."""
    waiting = client.send(1, 12, fetch_request({topic: {0: 0}}, max_wait=15_000))
    produced = client.send(0, 9, _one(topic))
    started = time.monotonic()
    client.receive(1, 12, waiting)
    client.receive(0, 9, produced)
    assert time.monotonic() - started < 10


def _one(topic: str) -> object:
    api = messages.api(0)
    data = api.request.PartitionProduceData(index=0, records=BATCH)
    return api.Request(
        acks=-1, timeout=1000, topic_data=[api.request.TopicProduceData(name=topic, partition_data=[data])]
    )


def test_many_readers_of_one_partition_all_see_every_record(topic: str, lakestream: Running) -> None:
    seen: list[list[int]] = []

    def read(address: str) -> None:
        with WireClient(address) as reader:
            offsets: list[int] = []
            while len(offsets) < 60:
                answer = reader.fetch(topic, len(offsets), max_wait=5_000)
                offsets += [each.offset for each in records(answer.records)]
            seen.append(offsets)

    readers = [threading.Thread(target=read, args=(lakestream.addresses[at % 2],)) for at in range(6)]
    for reader in readers:
        reader.start()
    with WireClient(lakestream.addresses[0]) as one, WireClient(lakestream.addresses[1]) as other:
        for at in range(20):
            (one if at % 2 else other).produce(topic, BATCH)
    for reader in readers:
        reader.join(60)
    assert seen == [list(range(60))] * 6


def test_what_one_broker_acknowledged_another_serves_at_once(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    for at in range(20):
        writer, reader = (client, other_client) if at % 2 else (other_client, client)
        assert writer.produce(topic, batch([b"%d" % at])).base_offset == at
        answer = reader.fetch(topic, at)
        assert (answer.error_code.value, _values(answer.records)) == (0, [b"%d" % at])

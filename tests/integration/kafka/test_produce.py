"""Produce: what is stored, what is refused, and with which of Kafka's errors."""

from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, batch, now_ms, patched, records
from .running import Running
from .wire_client import WireClient, produce_request

CORRUPT, UNKNOWN_TOPIC, TOO_LARGE, INVALID_ACKS, INVALID_TIMESTAMP = 2, 3, 10, 21, 32
INVALID_REQUEST, OUT_OF_ORDER, STALE_EPOCH, INVALID_PRODUCER_ID_MAPPING, UNKNOWN_PRODUCER = 42, 45, 47, 49, 59
UNSUPPORTED_COMPRESSION, INVALID_RECORD, UNKNOWN_TOPIC_ID = 76, 87, 100
HOUR_MS = 3_600_000

ONE = batch([b"one"])
REFUSED = {
    "no records": (None, INVALID_RECORD),
    "no batch": (b"", INVALID_RECORD),
    "less than a header": (ONE[:40], CORRUPT),
    "cut short": (ONE[:-1], CORRUPT),
    "a second batch": (ONE + ONE, INVALID_RECORD),
    "a wrong checksum": (ONE[:-1] + bytes([ONE[-1] ^ 1]), CORRUPT),
    "an old format": (ONE[:16] + b"\x01" + ONE[17:], INVALID_RECORD),
    "an unknown codec": (patched(ONE, 21, "h", 5), UNSUPPORTED_COMPRESSION),
    "a base offset": (b"\0\0\0\0\0\0\0\x05" + ONE[8:], INVALID_RECORD),
    "a wrong count": (patched(ONE, 57, "i", 2), INVALID_RECORD),
    "a wrong last offset": (patched(ONE, 23, "i", 3), INVALID_RECORD),
    "a control batch": (patched(ONE, 21, "h", 0x20), INVALID_RECORD),
    "log-append time": (patched(ONE, 21, "h", 0x08), INVALID_TIMESTAMP),
    "a producer without a sequence": (batch(producer=(7, 0, -1)), INVALID_RECORD),
    "a time too far ahead": (batch(timestamps=[now_ms() + 3 * HOUR_MS]), INVALID_TIMESTAMP),
    "a transaction": (batch(producer=(7, 0, 0), transactional=True), INVALID_PRODUCER_ID_MAPPING),
    "more bytes than the topic takes": (batch([bytes(1024 * 1024 + 100)]), TOO_LARGE),
    "compressed rubbish": (patched(ONE, 21, "h", GZIP), INVALID_RECORD),
    "a sequence without state": (batch(producer=(123_456, 0, 5)), UNKNOWN_PRODUCER),
}


@pytest.mark.parametrize("bad", REFUSED)
def test_a_bad_batch_is_refused_with_kafkas_error_and_the_next_one_is_stored(
    bad: str, topic: str, client: WireClient
) -> None:
    data, code = REFUSED[bad]
    refused = client.produce(topic, data)
    assert (refused.error_code.value, refused.base_offset) == (code, -1)
    assert refused.error_message
    assert client.produce(topic, ONE).base_offset == 0


def test_a_batch_of_wrong_times_names_its_records(topic: str, client: WireClient) -> None:
    late = now_ms() + 3 * HOUR_MS
    refused = client.produce(topic, batch([b"a", b"b", b"c"], timestamps=[now_ms(), late, now_ms()]))
    assert [each.batch_index for each in refused.record_errors] == [1]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
@pytest.mark.parametrize("size", [10, 300_000])
def test_every_codec_is_kept_as_it_was_sent(codec: int, size: int, topic: str, client: WireClient) -> None:
    """The small ones are validated on the spot, the large ones in a thread."""
    sent = batch([b"first", bytes(index * 31 % 251 for index in range(size)), b"last"], codec=codec)
    assert client.produce(topic, sent).error_code.value == 0
    fetched = client.fetch(topic, 0).records
    assert fetched[16:] == sent[16:]


def test_zstd_is_refused_before_version_7(topic: str, client: WireClient) -> None:
    assert client.produce(topic, batch(codec=ZSTD), version=6).error_code.value == UNSUPPORTED_COMPRESSION
    assert client.produce(topic, batch(codec=ZSTD), version=7).error_code.value == 0


def test_a_refused_partition_does_not_touch_the_others(topic: str, client: WireClient) -> None:
    body = produce_request({topic: {0: ONE, 1: ONE[:-1], 2: ONE, 7: ONE}, "nowhere": {0: ONE}})
    first, second = client.call(0, 9, body).responses
    codes = {each.index: (each.error_code.value, each.base_offset) for each in first.partition_responses}
    assert codes == {0: (0, 0), 1: (CORRUPT, -1), 2: (0, 0), 7: (UNKNOWN_TOPIC, -1)}
    assert [each.error_code.value for each in second.partition_responses] == [UNKNOWN_TOPIC]


def test_a_partition_that_comes_twice_is_refused_the_second_time(topic: str, client: WireClient) -> None:
    api = messages.api(0)
    twice = [api.request.PartitionProduceData(index=0, records=ONE) for _ in range(2)]
    body = api.Request(
        acks=-1, timeout=1000, topic_data=[api.request.TopicProduceData(name=topic, partition_data=twice)]
    )
    (answer,) = client.call(0, 9, body).responses
    assert [each.error_code.value for each in answer.partition_responses] == [0, INVALID_REQUEST]


@pytest.mark.parametrize("acks", [2, -2, 7])
def test_unknown_acks_are_refused(acks: int, topic: str, client: WireClient) -> None:
    assert client.produce(topic, ONE, acks=acks).error_code.value == INVALID_ACKS


def test_acks_1_waits_for_the_offset_as_acks_all_does(topic: str, client: WireClient) -> None:
    assert [client.produce(topic, ONE, acks=acks).base_offset for acks in (1, -1, 1)] == [0, 1, 2]


def test_acks_0_is_stored_and_not_answered(topic: str, client: WireClient) -> None:
    client.send(0, 9, produce_request({topic: {0: ONE}}, acks=0))
    assert client.produce(topic, ONE).base_offset == 1


@pytest.mark.parametrize("where", ["a bad batch", "an unknown topic"])
def test_acks_0_closes_the_connection_when_refused(where: str, topic: str, client: WireClient) -> None:
    data = {topic: {0: ONE, 1: ONE[:-1]}} if where == "a bad batch" else {topic: {0: ONE}, "nowhere": {0: ONE}}
    client.send(0, 9, produce_request(data, acks=0))  # type: ignore[arg-type]
    assert client.is_closed()


def test_a_good_batch_beside_a_bad_one_is_stored_with_acks_0(
    topic: str, client: WireClient, lakestream: Running
) -> None:
    client.send(0, 9, produce_request({topic: {0: ONE, 1: ONE[:-1]}}, acks=0))
    assert client.is_closed()
    with WireClient(lakestream.addresses[0]) as again:
        assert again.produce(topic, ONE).base_offset == 1


def test_a_topic_is_found_by_id(name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    answers = [_produce_by_id(client, each) for each in (topic_id, bytes(15) + b"\x01", bytes(16))]
    assert [answer.error_code.value for answer in answers] == [0, UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_ID]


def _produce_by_id(client: WireClient, topic_id: bytes) -> Any:
    api = messages.api(0)
    data = api.request.PartitionProduceData(index=0, records=ONE)
    asked = api.request.TopicProduceData(topic_id=topic_id, partition_data=[data])
    ((answer,),) = [
        each.partition_responses
        for each in client.call(0, 13, api.Request(acks=-1, timeout=1000, topic_data=[asked])).responses
    ]
    return answer


def test_a_repeated_batch_is_stored_once_and_answered_with_its_first_offset(topic: str, client: WireClient) -> None:
    producer = client.call(22, 4, messages.api(22).Request()).producer_id
    batches = [batch([b"x"], producer=(producer, 0, sequence)) for sequence in range(3)]
    offsets = [client.produce(topic, each).base_offset for each in [batches[0], batches[1], batches[0], batches[2]]]
    assert offsets == [0, 1, 0, 2]
    assert len(records(client.fetch(topic, 0).records)) == 3


def test_a_gap_in_the_sequence_is_refused_and_an_older_epoch_too(topic: str, client: WireClient) -> None:
    producer = client.call(22, 4, messages.api(22).Request()).producer_id
    sent = [(1, 0), (1, 9), (0, 1)]
    codes = [client.produce(topic, batch(producer=(producer, *each))).error_code.value for each in sent]
    assert codes == [0, OUT_OF_ORDER, STALE_EPOCH]


def test_pipelined_batches_keep_their_order_whatever_their_size(topic: str, client: WireClient) -> None:
    """Heavy batches are validated in threads, light ones at once; none overtakes another."""
    sizes = [10, 200_000, 10, 10, 200_000, 10] * 3
    sent = [
        client.send(
            0, 9, produce_request({topic: {0: batch([b"%d" % at, bytes(size)], codec=GZIP if size > 10 else 0)}})
        )
        for at, size in enumerate(sizes)
    ]
    offsets = []
    for correlation_id in sent:
        ((answer,),) = [each.partition_responses for each in client.receive(0, 9, correlation_id).responses]
        offsets.append(answer.base_offset)
    assert offsets == list(range(0, 2 * len(sizes), 2))
    stored = records(client.fetch(topic, 0, max_bytes=1 << 26, partition_max_bytes=1 << 26).records)
    assert [each.value for each in stored[::2]] == [b"%d" % at for at in range(len(sizes))]


def test_log_append_time_is_what_the_producer_is_told_and_the_consumer_sees(name: str, client: WireClient) -> None:
    client.create_topic(name, message_timestamp_type="LogAppendTime")
    before = now_ms()
    answer = client.produce(name, batch([b"a", b"b"], timestamps=[5, 6]))
    told_ms = round(answer.log_append_time.timestamp() * 1000)
    assert before - 1000 <= told_ms <= now_ms() + 1000
    stored = records(client.fetch(name, 0).records)
    assert [(each.timestamp, each.timestamp_type) for each in stored] == [(told_ms, 1), (told_ms, 1)]

"""Every client writes with every codec; every client reads everything back, equal in every part.

One topic per writer, one partition per codec, so that a reader meets all codecs of a writer.
"""

import threading
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from .clients.client import ANSWER_S_MAX, CODECS, Client, Read
from .clients.openers import OPENERS
from .conftest import NewTopic, OpenClient
from .raw_batches import fetch_batch_headers
from .samples import LATEST_MS, STARTED_MS, sample_records

Written = Callable[[str], str]


@pytest.fixture(scope="module")
def written(open_client: OpenClient, new_topic: NewTopic) -> Written:
    """The topic in which a client has written the sample, partition N with codec N; written on first use."""
    topics: dict[str, str] = {}

    def write(name: str) -> str:
        if name not in topics:
            writer = open_client(name)
            topic = new_topic(writer, partitions=len(CODECS))
            records = sample_records(null_header_values=writer.null_header_values)
            for codec in writer.codecs:
                offsets = writer.write(topic, CODECS.index(codec), codec, records)
                assert offsets == list(range(len(records))), f"{name} was given odd offsets with {codec}"
            topics[name] = topic
        return topics[name]

    return write


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", OPENERS)
@pytest.mark.parametrize("reader", OPENERS)
def test_what_one_client_writes_another_reads_back_in_full(
    writer: str, reader: str, codec: str, written: Written, open_client: OpenClient
) -> None:
    for name in (writer, reader):
        skip_without_codec(open_client(name), codec)
    topic = written(writer)
    expected = sample_records(null_header_values=open_client(writer).null_header_values)
    read = open_client(reader).read(topic, CODECS.index(codec), 0, len(expected))
    assert read == [Read(offset=at, record=record) for at, record in enumerate(expected)]


@pytest.mark.parametrize("codec", CODECS)
def test_batches_are_stored_as_the_client_compressed_them(
    client: Client, codec: str, written: Written, bootstrap: str
) -> None:
    skip_without_codec(client, codec)
    batches = fetch_batch_headers(bootstrap, written(client.name), CODECS.index(codec))
    assert {batch.codec for batch in batches} == {codec}
    assert all(batch.crc_is_right for batch in batches)
    assert max(batch.max_timestamp_ms for batch in batches) == LATEST_MS


@pytest.mark.parametrize("wanted", ["uncompressed", "gzip", "snappy", "lz4"])
def test_batches_are_stored_in_the_codec_of_their_topic(
    client: Client, wanted: str, new_topic: NewTopic, bootstrap: str
) -> None:
    """As Kafka does: compressed again where the topic names a codec and the client used another."""
    topic = new_topic(client, **{"compression.type": wanted})
    records = sample_records(null_header_values=client.null_header_values)
    for sent in ("none", "gzip"):
        client.write(topic, 0, sent, records)
    batches = fetch_batch_headers(bootstrap, topic, 0)
    assert {batch.codec for batch in batches} == {"none" if wanted == "uncompressed" else wanted}
    assert all(batch.crc_is_right for batch in batches)
    read = client.read(topic, 0, 0, 2 * len(records))
    assert read == [Read(offset=at, record=record) for at, record in enumerate(records * 2)]


def test_a_zstd_topic_is_read_back_in_full(client: Client, new_topic: NewTopic) -> None:
    skip_without_codec(client, "zstd")
    topic = new_topic(client, **{"compression.type": "zstd"})
    records = sample_records(null_header_values=client.null_header_values)
    client.write(topic, 0, "gzip", records)
    assert client.read(topic, 0, 0, len(records)) == [Read(offset=at, record=each) for at, each in enumerate(records)]


def test_idempotent_batches_carry_one_producer_and_consecutive_sequences(
    client: Client, written: Written, bootstrap: str
) -> None:
    batches = fetch_batch_headers(bootstrap, written(client.name), 0)
    assert len({batch.producer_id for batch in batches}) == 1
    assert batches[0].producer_id >= 0
    assert batches[0].base_sequence == 0
    for earlier, later in pairwise(batches):
        assert later.base_sequence == earlier.base_sequence + earlier.record_count
        assert later.base_offset == earlier.base_offset + earlier.record_count


@pytest.mark.parametrize("offset", [1, 119, 239])
def test_a_seek_into_the_middle_of_a_batch_starts_at_that_very_record(
    client: Client, offset: int, written: Written
) -> None:
    expected = sample_records(null_header_values=client.null_header_values)
    read = client.read(written(client.name), CODECS.index("gzip"), offset, len(expected) - offset)
    assert [each.offset for each in read] == list(range(offset, len(expected)))
    assert [each.record for each in read] == expected[offset:]


def test_a_waiting_reader_receives_what_is_written_later(
    client: Client, open_client: OpenClient, new_topic: NewTopic
) -> None:
    topic = new_topic(client)
    writer = open_client("aiokafka" if client.name == "confluent-kafka" else "confluent-kafka")
    records = sample_records(null_header_values=False)[:3]
    received: list[Read] = []
    waiting = threading.Thread(target=lambda: received.extend(client.read(topic, 0, 0, len(records))))
    waiting.start()
    time.sleep(0.7)  # long enough for the reader's first fetch to be waiting at the end of the log
    assert received == []
    writer.write(topic, 0, "none", records)
    waiting.join(ANSWER_S_MAX + 5)
    assert [each.record for each in received] == records


def test_with_log_append_time_the_broker_stamps_every_record(
    client: Client, new_topic: NewTopic, bootstrap: str
) -> None:
    topic = new_topic(client, message_timestamp_type="LogAppendTime")
    records = sample_records(null_header_values=False)[:20]
    before_ms = int(time.time() * 1000)
    client.write(topic, 0, "gzip", records)
    read = client.read(topic, 0, 0, len(records))
    after_ms = int(time.time() * 1000)
    assert [each.record.value for each in read] == [record.value for record in records]
    assert all(before_ms <= each.record.timestamp_ms <= after_ms for each in read)
    batches = fetch_batch_headers(bootstrap, topic, 0)
    assert all(batch.log_append_time and batch.crc_is_right for batch in batches)
    assert client.offset_at(topic, 0, STARTED_MS) == 0
    assert client.offset_at(topic, 0, after_ms + 60_000) == len(records)


def skip_without_codec(client: Client, codec: str) -> None:
    if codec not in client.codecs:
        pytest.skip(f"{client.name} has no {codec} here: the package it uses for it is not installed")

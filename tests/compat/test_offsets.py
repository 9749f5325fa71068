"""Where a partition begins and ends, and what lies where in time, asked through every client."""

import pytest

from .clients.client import Client, Refused
from .conftest import NewTopic, OpenClient
from .samples import COUNT, LATEST_MS, STARTED_MS, STEP_MS, first_not_older, sample_records

OFFSET_OUT_OF_RANGE = 1

TIMES_MS = {
    "before the first": STARTED_MS - 1,
    "of the first": STARTED_MS,
    "between two": STARTED_MS + 10 * STEP_MS + 1,
    "of one that came late": STARTED_MS + 2 * STEP_MS + 500,
    "after one that came late": STARTED_MS + 6 * STEP_MS + 1,
    "in a later batch": STARTED_MS + 150 * STEP_MS,
    "of the latest": LATEST_MS,
    "after the latest": LATEST_MS + 1,
}


@pytest.fixture(scope="module")
def topic(open_client: OpenClient, new_topic: NewTopic) -> str:
    """Written in four calls by two codecs, so that lookups cross batches and have to look into compressed ones."""
    writer = open_client("confluent-kafka")
    topic = new_topic(writer, partitions=2)
    records = sample_records(null_header_values=True)
    for at in range(0, COUNT, 60):
        writer.write(topic, 0, "lz4" if at % 120 else "none", records[at : at + 60])
    return topic


@pytest.mark.parametrize("when", TIMES_MS)
def test_a_lookup_by_time_finds_the_first_record_that_is_not_older(client: Client, when: str, topic: str) -> None:
    expected = first_not_older(sample_records(null_header_values=True), TIMES_MS[when])
    assert client.offset_at(topic, 0, TIMES_MS[when]) == expected


def test_reading_from_a_time_starts_with_the_record_found(client: Client, topic: str) -> None:
    records = sample_records(null_header_values=True)
    offset = client.offset_at(topic, 0, STARTED_MS + 100 * STEP_MS)
    [read] = client.read(topic, 0, offset, 1)
    assert read.offset == 100
    assert read.record == records[100]


def test_beginning_and_end_of_a_written_and_of_an_empty_partition(client: Client, topic: str) -> None:
    assert client.bounds(topic, 0) == (0, COUNT)
    assert client.bounds(topic, 1) == (0, 0)


def test_deleted_records_move_the_beginning_and_nothing_else(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client)
    records = sample_records(null_header_values=False)[:30]
    client.write(topic, 0, "none", records)
    client.delete_records(topic, 0, 11)
    assert client.bounds(topic, 0) == (11, 30)
    read = client.read(topic, 0, 11, 19)
    assert [each.offset for each in read] == list(range(11, 30))
    assert [each.record for each in read] == records[11:]


def test_records_beyond_the_end_cannot_be_deleted(open_client: OpenClient, new_topic: NewTopic) -> None:
    client = open_client("confluent-kafka")
    topic = new_topic(client)
    with pytest.raises(Refused) as refused:
        client.delete_records(topic, 0, 1)
    assert refused.value.code == OFFSET_OUT_OF_RANGE

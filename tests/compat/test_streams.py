"""Kafka Streams counts words: internal topics, a repartition, a state store that comes back from its changelog."""

import time
import uuid
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from benchmarks.peers.kafka import Unavailable

from .clients import streams
from .clients.client import Client, Record
from .clients.members import until
from .conftest import NewTopic, OpenClient

FIRST = ["to be or not to be", "that is the question", "to be is to do"]
MORE = ["to do is to be", "do be do be do"]


def write(client: Client, topic: str, lines: list[str]) -> None:
    now_ms = int(time.time() * 1000)
    client.write(topic, 0, "none", [Record(key=None, value=line.encode(), timestamp_ms=now_ms) for line in lines])


def counted(client: Client, topic: str) -> dict[str, int]:
    """The newest count of each word."""
    start, end = client.bounds(topic, 0)
    records = [each.record for each in client.read(topic, 0, start, end - start)] if end > start else []
    return {(each.key or b"").decode(): int(each.value or b"0") for each in records}


def words(*lists: list[str]) -> dict[str, int]:
    return dict(Counter(word for lines in lists for line in lines for word in line.split()))


def test_words_are_counted_on_after_the_application_lost_its_state(
    bootstrap: str, open_client: OpenClient, new_topic: NewTopic, tmp_path: Path
) -> None:
    try:
        streams.prepared()
    except Unavailable as missing:
        pytest.skip(str(missing))
    client = open_client("confluent-kafka")
    application = f"words-{uuid.uuid4().hex[:8]}"
    lines, counts = new_topic(client), new_topic(client)
    write(client, lines, FIRST)
    with streams.word_count(bootstrap, application, lines, counts, tmp_path / "first") as running:
        until(lambda: counted(client, counts) == words(FIRST), running.last_words)
        assert running.restored == 0
    write(client, lines, MORE)
    with streams.word_count(bootstrap, application, lines, counts, tmp_path / "second") as running:
        until(lambda: counted(client, counts) == words(FIRST, MORE), running.last_words)
        assert running.restored > 0, "the store came back from its changelog"


def committed_counts(bootstrap: str, topic: str) -> dict[str, list[int]]:
    """All counts of each word, as a reader of committed records sees them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "counts",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: dict[str, list[int]] = {}
    try:
        while (message := consumer.poll(30)) is not None and message.error() is None:
            found.setdefault((message.key() or b"").decode(), []).append(int(message.value() or b"0"))
        assert message is not None, "the end was not reached"
        return found
    finally:
        consumer.close()


def test_words_are_counted_exactly_once_though_the_application_is_killed(
    bootstrap: str, open_client: OpenClient, new_topic: NewTopic, tmp_path: Path
) -> None:
    """With `exactly_once_v2`, input, changelog and output move in one transaction. Every count comes once."""
    try:
        streams.prepared()
    except Unavailable as missing:
        pytest.skip(str(missing))
    client = open_client("confluent-kafka")
    application = f"exact-{uuid.uuid4().hex[:8]}"
    lines, counts = new_topic(client), new_topic(client)
    write(client, lines, FIRST * 50)
    run = partial(streams.word_count, bootstrap, application, lines, counts, guarantee="exactly_once_v2")
    with run(tmp_path / "first") as running:
        until(lambda: bool(committed_counts(bootstrap, counts)), running.last_words)
        write(client, lines, MORE * 50)
        running.kill()
    expected = {word: list(range(1, count + 1)) for word, count in words(FIRST * 50, MORE * 50).items()}
    with run(tmp_path / "second") as running:
        until(lambda: committed_counts(bootstrap, counts) == expected, running.last_words)

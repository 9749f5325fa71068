"""The consumers' own messages inside the classic protocol."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from lakestream.broker.groups.embedded import (
    MalformedProtocol,
    read_assignment,
    read_subscription,
    subscribed_topics,
    write_assignment,
)
from tests.unit.groups.bench import subscription

names = st.text("abcdef.-_", min_size=1, max_size=12)
by_topic = st.dictionaries(names, st.frozensets(st.integers(0, 50), max_size=5), max_size=4)


@given(by_topic, st.integers(0, 3))
def test_an_assignment_is_read_back(partitions: dict[str, frozenset[int]], version: int) -> None:
    assert read_assignment(write_assignment(version, partitions)).partitions == partitions


@given(st.lists(names, unique=True, max_size=5), st.integers(0, 3))
def test_a_subscription_is_read(topics: list[str], version: int) -> None:
    read = read_subscription(subscription(*topics, version=version, owned={"t": [1, 2]}))
    assert read.topics == frozenset(topics)
    assert read.version == version
    assert read.owned == ({"t": frozenset({1, 2})} if version else {})


def test_newer_versions_are_read_as_far_as_they_are_known() -> None:
    newer = bytearray(subscription("orders", version=3) + b"what comes later")
    newer[1] = 9
    assert read_subscription(bytes(newer)).topics == {"orders"}


@given(st.binary(max_size=60))
def test_anything_else_is_refused_cleanly(data: bytes) -> None:
    for read in (read_subscription, read_assignment):
        with suppress(MalformedProtocol):
            read(data)


@given(st.lists(names, unique=True, max_size=5), by_topic, st.integers(0, 3))
def test_what_another_client_writes_is_read(topics: list[str], owned: dict[str, frozenset[int]], version: int) -> None:
    fields: dict[str, object] = {"topics": topics, "user_data": b"x", "version": version}
    if version:
        lists = [(name, sorted(numbers)) for name, numbers in owned.items()]
        fields["owned_partitions"] = [ConsumerProtocolSubscription.TopicPartition(*one) for one in lists]
    read = read_subscription(bytes(ConsumerProtocolSubscription(**fields).encode()))
    assert read.topics == frozenset(topics)
    assert read.owned == (owned if version else {})


@given(by_topic, st.integers(0, 2))
def test_another_client_reads_what_is_written(partitions: dict[str, frozenset[int]], version: int) -> None:
    read = ConsumerProtocolAssignment.decode(write_assignment(version, partitions))
    assert {one.topic: frozenset(one.partitions) for one in read.assigned_partitions} == partitions


def test_a_count_that_cannot_be_true_is_refused() -> None:
    with pytest.raises(MalformedProtocol):
        read_subscription(b"\0\0\x7f\xff\xff\xff")


def test_topics_are_unknown_if_one_member_cannot_be_read() -> None:
    assert subscribed_topics([subscription("a"), subscription("b", "c")]) == {"a", "b", "c"}
    assert subscribed_topics([subscription("a"), b"\0"]) is None

"""The server-side assignors: every partition has one owner, loads are even, little moves."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.broker.groups.consumer.assignors import Subscriber, assign_range, assign_uniform
from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment
from lakestream.model.group import TopicPartition
from tests.unit.groups.bench import partitions, topic_id

A, B = topic_id("a"), topic_id("b")


def readers(*topics: bytes, members: int) -> dict[str, Subscriber]:
    return {f"m{number}": Subscriber(f"m{number}", frozenset(topics), NO_PARTITIONS) for number in range(members)}


def test_range_gives_contiguous_runs_the_longer_ones_first() -> None:
    given_ = assign_range(readers(A, B, members=2), {A: 3, B: 3})
    assert given_["m0"] == partitions("a", 0, 1) | partitions("b", 0, 1)
    assert given_["m1"] == partitions("a", 2) | partitions("b", 2)


def test_range_goes_by_the_instance_so_that_a_restart_moves_nothing() -> None:
    before = {"x": Subscriber("1", frozenset({A}), NO_PARTITIONS), "y": Subscriber("2", frozenset({A}), NO_PARTITIONS)}
    after = {"z": Subscriber("1", frozenset({A}), NO_PARTITIONS), "y": Subscriber("2", frozenset({A}), NO_PARTITIONS)}
    assert assign_range(before, {A: 4})["x"] == assign_range(after, {A: 4})["z"]


def test_a_newcomer_takes_only_its_share() -> None:
    before = assign_uniform(readers(A, members=3), {A: 12})
    members = {name: Subscriber(name, frozenset({A}), held) for name, held in before.items()}
    members["new"] = Subscriber("new", frozenset({A}), NO_PARTITIONS)
    after = assign_uniform(members, {A: 12})
    assert len(after["new"]) == 3
    assert all(after[name] <= before[name] for name in before)


def test_nothing_moves_when_nothing_changed() -> None:
    before = assign_uniform(readers(A, B, members=5), {A: 7, B: 9})
    members = {name: Subscriber(name, frozenset({A, B}), held) for name, held in before.items()}
    assert assign_uniform(members, {A: 7, B: 9}) == before


topic_ids = [topic_id(name) for name in "abcd"]
partition_counts = st.dictionaries(st.sampled_from(topic_ids), st.integers(1, 9), max_size=4)
formerly = st.frozensets(st.builds(TopicPartition, st.sampled_from(topic_ids), st.integers(0, 12)), max_size=12)
some_readers = st.dictionaries(
    st.text("xyz", min_size=1, max_size=3),
    st.builds(Subscriber, st.text("pq", max_size=2), st.frozensets(st.sampled_from(topic_ids)), formerly),
    max_size=7,
)


def existing(members: dict[str, Subscriber], counts: dict[bytes, int]) -> dict[str, Subscriber]:
    return {name: reader._replace(topics=frozenset(reader.topics & counts.keys())) for name, reader in members.items()}


def check_complete(members: dict[str, Subscriber], counts: dict[bytes, int], result: dict[str, Assignment]) -> None:
    read = frozenset().union(*(reader.topics for reader in members.values()))
    every = sorted(TopicPartition(topic, number) for topic in read for number in range(counts[topic]))
    assert sorted(one for held in result.values() for one in held) == every
    assert all(one.topic in members[name].topics for name, held in result.items() for one in held)
    assert result.keys() == members.keys()


@given(some_readers, partition_counts)
def test_range_gives_each_partition_to_one_subscriber(members: dict[str, Subscriber], counts: dict[bytes, int]) -> None:
    members = existing(members, counts)
    check_complete(members, counts, assign_range(members, counts))


@settings(max_examples=300)
@given(some_readers, partition_counts)
def test_uniform_gives_each_partition_to_one_subscriber_and_evenly(
    members: dict[str, Subscriber], counts: dict[bytes, int]
) -> None:
    members = existing(members, counts)
    result = assign_uniform(members, counts)
    check_complete(members, counts, result)
    for held in result.values():
        for one in held:
            lightest = min(len(result[other]) for other, reader in members.items() if one.topic in reader.topics)
            assert len(held) <= lightest + 1, "nobody who could read it has two fewer"


@given(some_readers, partition_counts)
def test_assignors_are_deterministic(members: dict[str, Subscriber], counts: dict[bytes, int]) -> None:
    members = existing(members, counts)
    backwards = dict(reversed(members.items()))
    assert assign_uniform(members, counts) == assign_uniform(backwards, counts)
    assert assign_range(members, counts) == assign_range(backwards, counts)

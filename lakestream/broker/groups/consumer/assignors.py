"""Server-side assignors: from the topics that each member reads to its partitions. Pure and deterministic.

range    each topic is cut into contiguous runs, in the order of the members
uniform  everyone gets as many as everyone else, give or take one, and keeps what it had as far as that allows
"""

from collections.abc import Callable, Mapping
from heapq import heapify, heapreplace
from typing import NamedTuple

from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId

BALANCING_ROUNDS_MAX = 20
"""Where subscriptions differ, balancing goes on until no move helps. This limit ends a case that should not exist."""


class Subscriber(NamedTuple):
    """One member as the assignors see it."""

    order: str
    """The sort key: instance id, or else member id. A static member keeps its place across restarts."""
    topics: frozenset[TopicId]
    had: Assignment


Readers = Mapping[str, Subscriber]
Partitions = Mapping[TopicId, int]
"""How many partitions each existing topic has."""


def assign_range(readers: Readers, partitions: Partitions) -> dict[str, Assignment]:
    given: dict[str, list[TopicPartition]] = {member: [] for member in readers}
    in_order = sorted(readers, key=lambda member: (readers[member].order, member))
    for topic, count in partitions.items():
        subscribers = [member for member in in_order if topic in readers[member].topics]
        for place, member in enumerate(subscribers):
            first, last = _run(place, len(subscribers), count)
            given[member] += [TopicPartition(topic, index) for index in range(first, last)]
    return {member: frozenset(run) for member, run in given.items()}


def _run(place: int, subscribers: int, count: int) -> tuple[int, int]:
    """The run of one subscriber. Runs differ in length by at most one; the longer ones come first."""
    size, longer = divmod(count, subscribers)
    first = place * size + min(place, longer)
    return first, first + size + (1 if place < longer else 0)


def assign_uniform(readers: Readers, partitions: Partitions) -> dict[str, Assignment]:
    given = {member: _kept(reader, partitions) for member, reader in sorted(readers.items())}
    _drop_doubles(given)
    free = _unassigned(given, readers, partitions)
    if len({reader.topics for reader in readers.values()}) <= 1:
        _hand_out(given, _cut_to_share(given, free), readers)
    else:
        _hand_out(given, free, readers)
        _balance(given, readers)
    return {member: frozenset(held) for member, held in given.items()}


def _kept(reader: Subscriber, partitions: Partitions) -> set[TopicPartition]:
    return {held for held in reader.had if held.topic in reader.topics and held.number < partitions.get(held.topic, 0)}


def _drop_doubles(given: dict[str, set[TopicPartition]]) -> None:
    """Former assignments should not overlap. The later steps do not rely on it."""
    seen: set[TopicPartition] = set()
    for held in given.values():
        held -= seen
        seen |= held


def _unassigned(
    given: dict[str, set[TopicPartition]], readers: Readers, partitions: Partitions
) -> list[TopicPartition]:
    taken: set[TopicPartition] = set().union(*given.values())
    read = frozenset().union(*(reader.topics for reader in readers.values()))
    every = (
        TopicPartition(topic, index) for topic in sorted(read & partitions.keys()) for index in range(partitions[topic])
    )
    return [partition for partition in every if partition not in taken]


def _cut_to_share(given: dict[str, set[TopicPartition]], free: list[TopicPartition]) -> list[TopicPartition]:
    """All members read the same topics, so nobody keeps more than its share. Members with most keep the odd ones."""
    if not given:
        return free
    total = len(free) + sum(map(len, given.values()))
    share, odd = divmod(total, len(given))
    for member in sorted(given, key=lambda name: -len(given[name])):
        quota = share + 1 if odd > 0 else share
        odd -= 1
        if len(given[member]) > quota:
            surplus = sorted(given[member])[quota:]
            given[member].difference_update(surplus)
            free.extend(surplus)
    return free


def _hand_out(given: dict[str, set[TopicPartition]], free: list[TopicPartition], readers: Readers) -> None:
    """Give each free partition to the least loaded reader of its topic. Topics with few readers go first."""
    by_topic: dict[TopicId, list[TopicPartition]] = {}
    for partition in free:
        by_topic.setdefault(partition.topic, []).append(partition)
    subscribers = {topic: [name for name in given if topic in readers[name].topics] for topic in by_topic}
    for topic in sorted(by_topic, key=lambda topic: (len(subscribers[topic]), topic)):
        least_first = [(len(given[member]), member) for member in subscribers[topic]]
        heapify(least_first)
        for partition in by_topic[topic]:
            load, member = least_first[0]
            given[member].add(partition)
            heapreplace(least_first, (load + 1, member))


def _balance(given: dict[str, set[TopicPartition]], readers: Readers) -> None:
    """Move partitions to readers that have at least two fewer. Each move evens out the loads, so this ends."""
    subscribers: dict[TopicId, list[str]] = {}
    for member, reader in sorted(readers.items()):
        for topic in reader.topics:
            subscribers.setdefault(topic, []).append(member)
    for _ in range(BALANCING_ROUNDS_MAX):
        moved = [_lighten(member, given, subscribers) for member in sorted(given, key=lambda name: -len(given[name]))]
        if not any(moved):
            return


def _lighten(member: str, given: dict[str, set[TopicPartition]], subscribers: dict[TopicId, list[str]]) -> bool:
    moved = False
    if len(given[member]) < min(map(len, given.values())) + 2:
        return False
    for partition in sorted(given[member]):
        lightest = min(subscribers[partition.topic], key=lambda name: len(given[name]))
        if len(given[lightest]) + 2 <= len(given[member]):
            given[member].remove(partition)
            given[lightest].add(partition)
            moved = True
    return moved


Assignor = Callable[[Readers, Partitions], dict[str, Assignment]]
ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
DEFAULT_ASSIGNOR = "uniform"

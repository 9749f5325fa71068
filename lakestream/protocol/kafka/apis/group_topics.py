"""Resolve the partitions in group requests to the keys that groups use: the topic's id and a number.

Requests are grouped by topic, and so are answers. `Asked` keeps one slot for each partition in the request's order.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Generic, NamedTuple, Protocol, TypeVar

from lakestream.broker.directory import Directory
from lakestream.broker.topic_lookup import TopicLookup
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId
from lakestream.world.turns import in_turns


class _Part(Protocol):
    partition_index: int


Part = TypeVar("Part", bound=_Part)


class AskedPartition(NamedTuple, Generic[Part]):
    """One partition of a request: its key, or the error why it has none."""

    part: Part
    found: TopicPartition | LakestreamError


async def asked_partitions(
    lookup: TopicLookup, name: str | None, topic_id: TopicId, parts: Iterable[Part]
) -> list[AskedPartition[Part]]:
    return [
        AskedPartition(part, await _found(lookup, name, topic_id, part.partition_index))
        async for part in in_turns(parts)
    ]


def known_partitions(
    lookup: TopicLookup, name: str | None, topic_id: TopicId, parts: Iterable[Part]
) -> list[AskedPartition[Part]] | None:
    """The same, if all partitions are known without asking the store."""
    entry = lookup.known(name, topic_id)
    if entry is None:
        return None
    topic, count = entry.topic.id, len(entry.topic.partitions)
    found = []
    for part in parts:
        if not 0 <= part.partition_index < count:
            return None
        found.append(AskedPartition(part, TopicPartition(topic, part.partition_index)))
    return found


async def _found(
    lookup: TopicLookup, name: str | None, topic_id: TopicId, index: int
) -> TopicPartition | LakestreamError:
    try:
        entry, _ = await lookup.partition(name, topic_id, index)
    except LakestreamError as error:
        return error
    return TopicPartition(entry.topic.id, index)


def by_topic(partitions: Iterable[TopicPartition]) -> Mapping[TopicId, list[int]]:
    """Numbers by topic, both in order."""
    ordered = sorted(partitions)
    return {topic: [one.number for one in ones] for topic, ones in groupby(ordered, key=lambda one: one.topic)}


def named_by_topic(partitions: Iterable[TopicPartition], directory: Directory) -> list[tuple[TopicId, str, list[int]]]:
    """Partition numbers by topic name. Deleted topics are left out: there is nothing to show of them."""
    known = [(topic, directory.known_id(topic), numbers) for topic, numbers in by_topic(partitions).items()]
    return [(topic, entry.topic.name, numbers) for topic, entry, numbers in known if entry is not None]

"""A topic: a name, an id that is never reused, its partitions and the configs set on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

TopicId = bytes
"""16 random bytes, stable for the life of the topic: Kafka's topic id."""

PartitionId = int
"""The store's own number of a partition: unique over all topics and never reused."""

TOPIC_NAME_LENGTH_MAX = 249
TOPIC_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
PARTITIONS_PER_TOPIC_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    """The request to create a topic."""

    id: TopicId
    name: str
    partitions: int
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic as the metadata store holds it. `partitions[i]` is the store's id of partition i."""

    id: TopicId
    name: str
    partitions: tuple[PartitionId, ...]
    config: Mapping[str, str]
    created_ms: int


def topic_name_problem(name: str) -> str | None:
    """The reason why `name` cannot be a topic's name, or None."""
    if not name:
        return "the name is empty"
    if name in (".", ".."):
        return f"'{name}' is not allowed as a name"
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        return f"the name has {len(name)} characters, more than {TOPIC_NAME_LENGTH_MAX}"
    if not TOPIC_NAME_CHARACTERS.issuperset(name):
        return f"'{name}' has characters other than letters, digits, '.', '_' and '-'"
    return None

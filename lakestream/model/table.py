"""A table in the metadata store: a name, and a pointer to the current metadata file.

A namespace is a path of names (`("sales", "eu")`). Tables and views share the names of a namespace.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from lakestream.model.freshness import Freshness
from lakestream.model.registry import ForeseenVersion
from lakestream.model.topic import TopicId, TopicSpec

TableId = str
"""A uuid in its usual text form. Never changes, not even when the table is renamed."""

Namespace = tuple[str, ...]

STREAMS: Namespace = ("streams",)
"""The default namespace of topics' tables."""

LOG_BRANCH = "log"
"""Every retained record in offset order, for Kafka. Only the catalog moves it."""
MAIN_BRANCH = "main"
"""The branch that SQL reads. It shares snapshots with `log` until someone changes it."""
QUARANTINE_BRANCH = "quarantine"
"""Values that broke their contract, until they are repaired or discarded: a copy of rows that `log` has as well."""
OWN_BRANCHES = (LOG_BRANCH, QUARANTINE_BRANCH)
"""The branches that only the catalog moves, and that no expiry removes."""


class TableKind(Enum):
    TOPIC = "topic"
    """The table of a topic: the catalog guards it."""
    ORDINARY = "ordinary"
    VIEW = "view"
    KEPT = "kept"
    """Outlived its topic: an ordinary table for everybody, except for leftovers of the topic's commits next to it."""
    DROPPED = "dropped"
    """Deleted with its topic: it has no name any more, and its files are deleted after a grace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePointer:
    """Which metadata file is the table now. `topic` is set if the kind is TOPIC.

    `listed`, `freshness` and `topic_name` are read, never written: the topic's config decides whether the catalog shows
    its table, and how fresh the table is."""

    id: TableId
    namespace: Namespace
    name: str
    kind: TableKind
    metadata_location: str
    topic: TopicId | None = None
    listed: bool = True
    freshness: Freshness | None = None
    """None where the config says nothing."""
    topic_name: str | None = field(default=None, compare=False)
    """Of the topic, while it exists: its rights are those on the table."""


class AppendedFile(NamedTuple):
    """A data file that another engine appended to a topic's table. All its rows go to one partition."""

    file: str
    rows: int
    bytes: int
    encoding: str
    """The object that says how rows become records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerMove:
    """One table's part of a commit: moves the pointer from `expected_location` to `pointer`, or fails.

    Without an expected location the table must not exist, and is created."""

    pointer: TablePointer
    expected_location: str | None
    new_topic: TopicSpec | None = None
    """The topic that begins with this move: with the table if the table is created, or as an ordinary table's."""
    appended: tuple[AppendedFile, ...] = ()
    """Files that become records of the table's topic in the same transaction."""
    registered: ForeseenVersion | None = None
    """The version of the topic's schema that is registered in the same transaction."""
    partition: int | None = None
    """The partition that takes the appended files; None: each goes to the shortest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReceipt:
    """Proof that a request was carried out, kept in the same transaction as its effect.

    A repeated request with the same `key` gets `answer` instead of being carried out twice. `request` is a digest of
    the request, so that a key used for something else is noticed."""

    key: str
    request: str
    answer: str

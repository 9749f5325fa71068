"""A table as the metadata store holds it: a name, and a pointer to the metadata file that is the table.

A namespace is a path of names (`("sales", "eu")`). Tables and views share the names of a namespace.
"""

from dataclasses import dataclass
from enum import Enum

from lakestream.model.topic import TopicId

TableId = str
"""A uuid in its usual text form; never changes, also not when the table is renamed."""

Namespace = tuple[str, ...]

STREAMS: Namespace = ("streams",)
"""Where topics have their tables, unless they say otherwise."""

LOG_BRANCH = "log"
"""Every retained record in offset order: what Kafka reads. The catalog alone moves it."""
MAIN_BRANCH = "main"
"""What SQL reads. It shares snapshots with `log` until someone changes it."""
QUARANTINE_BRANCH = "quarantine"
"""Values that broke their contract, until they are repaired or discarded: a copy of rows that `log` has as well."""
OWN_BRANCHES = (LOG_BRANCH, QUARANTINE_BRANCH)
"""Those that the catalog alone moves, and that no expiry takes."""


class TableKind(Enum):
    TOPIC = "topic"
    """The table of a topic: the catalog guards it."""
    ORDINARY = "ordinary"
    VIEW = "view"
    KEPT = "kept"
    """Outlived its topic: an ordinary one for everybody, but for what the topic's commits may have left beside it."""
    DROPPED = "dropped"
    """Went with its topic: it has no name any more, and its files go after a grace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePointer:
    """Which metadata file is the table now. `topic` is set where the kind is TOPIC.

    `listed` is read, never written: the topic's config says whether the catalog shows its table.
    """

    id: TableId
    namespace: Namespace
    name: str
    kind: TableKind
    metadata_location: str
    topic: TopicId | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerMove:
    """One table's part of a commit: it must be where `expected_location` says, and is then where `pointer` says.

    Without an expected location the table must not exist, and is created.
    """

    pointer: TablePointer
    expected_location: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReceipt:
    """Proof that a request was carried out, kept in the same transaction as its effect.

    A request that comes again under the same `key` is given `answer` instead of being carried out twice. `request` is a
    digest of what was asked, so that a key used for something else is noticed.
    """

    key: str
    request: str
    answer: str

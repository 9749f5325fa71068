"""What a request must be allowed to do: operations on resources, declared as data with each Kafka API and HTTP route.

    needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC))

Operations, and the resources of the log, are Apache Kafka's. Tables, views, namespaces and subjects are resources of
the same form. Each face checks them at one place: protocol/kafka/guards/judging.py, protocol/rest/routing.py.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias


class Operation(IntEnum):
    """By Kafka's numbers."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class ResourceType(Enum):
    """By the names that people read."""

    TOPIC = "Topic"
    GROUP = "Group"
    CLUSTER = "Cluster"
    TRANSACTIONAL_ID = "TransactionalId"
    NAMESPACE = "Namespace"
    TABLE = "Table"
    VIEW = "View"
    SUBJECT = "Subject"


COUNTS_AS_ITS_TOPIC = frozenset({ResourceType.TABLE, ResourceType.SUBJECT})
"""A table or subject that belongs to a topic has no rights of its own: the rights on the topic apply. The table's log
and its quarantine are part of the table. A topic's subjects are `<topic>-key` and `<topic>-value`.
"""


@dataclass(frozen=True, slots=True)
class Need:
    """A request needs this operation on every resource of this type that it names."""

    operation: Operation
    resource: ResourceType
    scope: str = ""
    """The requests or resources that have this need, in words, if not all of them do."""
    or_else: "Need | None" = None
    """Another need that is enough instead."""


Needs: TypeAlias = tuple[Need, ...]
"""All of them must be met."""

ANYONE: Needs = ()
"""Any principal may ask."""

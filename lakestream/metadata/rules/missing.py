"""Errors about topics, partitions, namespaces and tables that do not exist or are in the wrong state."""

from lakestream.model.errors import (
    InvalidPartitionCount,
    OffsetOutOfRange,
    TopicExists,
    UnknownPartition,
    UnknownTopicId,
)
from lakestream.model.place import Tail
from lakestream.model.table import Namespace, TableId, TablePointer
from lakestream.model.table_errors import (
    CommitConflict,
    NamespaceExists,
    NamespaceNotEmpty,
    TableExists,
    UnknownNamespace,
    UnknownTable,
)
from lakestream.model.topic import PartitionId, TopicId


def unknown_topic_id(topic: TopicId) -> UnknownTopicId:
    return UnknownTopicId(f"no topic has the id {topic.hex()}: it may have been deleted; ask for the topics again")


def topic_exists(name: str) -> TopicExists:
    return TopicExists(f"there is a topic '{name}' already: choose another name, or delete that one first")


def too_few_partitions(now: int, asked: int) -> InvalidPartitionCount:
    return InvalidPartitionCount(f"the topic has {now} partitions and can only grow: {asked} is not more")


def unknown_partition(partition: PartitionId) -> UnknownPartition:
    return UnknownPartition(f"no partition has the number {partition}: its topic may have been deleted")


def above_the_end(offset: int, tail: Tail) -> OffsetOutOfRange:
    return OffsetOutOfRange(f"offset {offset} lies above the log's end, {tail.next_offset}: use that or a lower one")


# --- tables ------------------------------------------------------------------------------------


def unknown_namespace(namespace: Namespace) -> UnknownNamespace:
    return UnknownNamespace(f"there is no namespace {shown_namespace(namespace)}: create it first, or check its name")


def namespace_exists(namespace: Namespace) -> NamespaceExists:
    return NamespaceExists(f"there is a namespace {shown_namespace(namespace)} already")


def namespace_not_empty(namespace: Namespace) -> NamespaceNotEmpty:
    return NamespaceNotEmpty(
        f"the namespace {shown_namespace(namespace)} holds tables, views or namespaces: drop or rename those first"
    )


def properties_changed(namespace: Namespace) -> CommitConflict:
    return CommitConflict(f"someone else changed the properties of {shown_namespace(namespace)}: read them again")


def table_exists(namespace: Namespace, name: str) -> TableExists:
    return TableExists(f"there is a table or view {shown_table(namespace, name)} already: choose another name")


def unknown_table_id(table: TableId) -> UnknownTable:
    return UnknownTable(f"no table has the uuid {table}: it may have been dropped; load it by its name")


def table_moved(pointer: TablePointer) -> CommitConflict:
    return CommitConflict(
        f"someone else committed to {shown_table(pointer.namespace, pointer.name)} meanwhile: "
        "load it again, then make the change anew"
    )


def shown_namespace(namespace: Namespace) -> str:
    return ".".join(namespace)


def shown_table(namespace: Namespace, name: str) -> str:
    return f"{shown_namespace(namespace)}.{name}"

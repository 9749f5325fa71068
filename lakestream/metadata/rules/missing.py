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
    UnknownView,
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


# --- tables: the words of Iceberg's own catalog come first, because clients compare them; advice follows -----------


def unknown_namespace(namespace: Namespace) -> UnknownNamespace:
    return UnknownNamespace(
        f"Namespace does not exist: {shown_namespace(namespace)}. Create it first, or check its name"
    )


def unknown_parent(namespace: Namespace) -> UnknownNamespace:
    """For lists of namespaces. Iceberg's compatibility kit compares this message as a whole."""
    return UnknownNamespace(f"Namespace does not exist: {shown_namespace(namespace)}")


def namespace_exists(namespace: Namespace) -> NamespaceExists:
    return NamespaceExists(f"Namespace already exists: {shown_namespace(namespace)}. Use it, or choose another name")


def namespace_not_empty(namespace: Namespace) -> NamespaceNotEmpty:
    return NamespaceNotEmpty(
        f"Namespace {shown_namespace(namespace)} is not empty. Drop or rename its tables, views and namespaces first"
    )


def properties_changed(namespace: Namespace) -> CommitConflict:
    return CommitConflict(f"someone else changed the properties of {shown_namespace(namespace)}: read them again")


def table_exists(namespace: Namespace, name: str) -> TableExists:
    """Where it is not known whether a table or a view has the name."""
    return TableExists(f"Table or view already exists: {shown_table(namespace, name)}. Choose another name")


def name_taken(namespace: Namespace, name: str, *, by_view: bool, for_view: bool) -> TableExists:
    """A table or view has the name that a new one was to get."""
    same_name = "" if by_view == for_view else " with same name"
    return TableExists(
        f"{_kind(by_view)}{same_name} already exists: {shown_table(namespace, name)}. Choose another name"
    )


def new_name_taken(source: str, target: str, *, by_view: bool) -> TableExists:
    """A table or view has the name to which another one was to be renamed. Both names as shown."""
    return TableExists(f"Cannot rename {source} to {target}. {_kind(by_view)} already exists. Choose another name")


def unknown_table(namespace: Namespace, name: str) -> UnknownTable:
    return UnknownTable(f"Table does not exist: {shown_table(namespace, name)}. Check its name, or create it")


def unknown_view(namespace: Namespace, name: str) -> UnknownView:
    return UnknownView(f"View does not exist: {shown_table(namespace, name)}. Check its name, or create it")


def unknown_table_id(table: TableId) -> UnknownTable:
    return UnknownTable(f"no table has the uuid {table}: it may have been dropped; load it by its name")


def table_moved(pointer: TablePointer) -> CommitConflict:
    return CommitConflict(
        f"someone else committed to {shown_table(pointer.namespace, pointer.name)} meanwhile: "
        "load it again, then make the change anew"
    )


def _kind(is_view: bool) -> str:
    return "View" if is_view else "Table"


def shown_namespace(namespace: Namespace) -> str:
    return ".".join(namespace)


def shown_table(namespace: Namespace, name: str) -> str:
    return f"{shown_namespace(namespace)}.{name}"

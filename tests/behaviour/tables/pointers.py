"""Pointers for tests: a new uuid each time."""

from uuid import uuid4

from lakestream.model.table import Namespace, TableKind, TablePointer
from lakestream.model.topic import TopicId


def pointer(
    name: str,
    *,
    namespace: Namespace = ("a",),
    kind: TableKind = TableKind.ORDINARY,
    location: str = "file:///v0",
    topic: TopicId | None = None,
) -> TablePointer:
    return TablePointer(
        id=str(uuid4()), namespace=namespace, name=name, kind=kind, metadata_location=location, topic=topic
    )

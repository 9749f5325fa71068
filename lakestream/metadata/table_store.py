"""What the metadata store does for tables: verbs, each of them one transaction.

A table is a pointer to its metadata file. Whoever changes it writes the next file first and then moves the pointer, if
it is still where it was read. Verbs that change something take a receipt, kept in the same transaction: a request that
was carried out before raises AnsweredBefore, which has the answer it got.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from lakestream.model.configs.topic_config import lists_its_table
from lakestream.model.table import Namespace, PointerMove, RequestReceipt, TableId, TableKind, TablePointer
from lakestream.model.topic import TopicId

RECEIPT_KEPT_MS = 3_600_000
"""Twice as long as clients are told that they may repeat a request."""

_LEVEL_SEPARATOR = "\x1f"

NOWHERE = ""
"""The namespace of dropped tables: nobody can name it, so their own names are free at once."""


class TableName(NamedTuple):
    name: str
    kind: TableKind
    listed: bool = True
    """Whether the catalog shows it: the config of its topic says so."""


class TableStore(Protocol):
    # --- namespaces ----------------------------------------------------------------------------

    async def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str], *, receipt: RequestReceipt | None = None
    ) -> None:
        """Raises NamespaceExists; UnknownNamespace if its parent does not exist."""
        ...

    async def namespaces(self, parent: Namespace) -> list[Namespace]:
        """Those directly below `parent`, in order; at the top if that is empty. Raises UnknownNamespace."""
        ...

    async def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        """Raises UnknownNamespace."""
        ...

    async def replace_namespace_properties(
        self,
        namespace: Namespace,
        *,
        expected: Mapping[str, str],
        properties: Mapping[str, str],
        receipt: RequestReceipt | None = None,
    ) -> None:
        """Raises UnknownNamespace; CommitConflict if its properties are not `expected`."""
        ...

    async def drop_namespace(self, namespace: Namespace, *, receipt: RequestReceipt | None = None) -> None:
        """Raises UnknownNamespace, NamespaceNotEmpty."""
        ...

    # --- tables and views ----------------------------------------------------------------------

    async def tables(self, namespace: Namespace) -> list[TableName]:
        """Tables and views of the namespace, by name. Raises UnknownNamespace."""
        ...

    async def table(self, namespace: Namespace, name: str) -> TablePointer | None: ...

    async def table_of_topic(self, topic: TopicId) -> TablePointer | None: ...

    async def table_with_id(self, table: TableId) -> TablePointer | None: ...

    async def table_ids(self, kinds: Collection[TableKind]) -> list[TableId]:
        """Of all tables of these kinds, wherever they are, in order."""
        ...

    async def move_tables(self, moves: Sequence[PointerMove], *, receipt: RequestReceipt | None = None) -> None:
        """Create tables and move pointers: all of them, or none. Raises CommitConflict where a pointer is not where it
        was expected, TableExists where a new table's name is taken, UnknownNamespace where its namespace is not there,
        UnknownTopicId where its topic is gone."""
        ...

    async def replace_table(
        self, old: TablePointer, pointer: TablePointer, *, receipt: RequestReceipt | None = None
    ) -> None:
        """Put another table in the place of `old`, under its name. Raises CommitConflict if `old` has moved on."""
        ...

    async def rename_table(
        self, table: TableId, namespace: Namespace, name: str, *, receipt: RequestReceipt | None = None
    ) -> None:
        """Raises UnknownTable, UnknownNamespace, TableExists."""
        ...

    async def drop_table(self, table: TableId, *, receipt: RequestReceipt | None = None) -> None:
        """Forget the pointer; files stay. Raises UnknownTable."""
        ...

    async def dropped_tables(self, age_ms: int, limit: int) -> list[TableId]:
        """Those that went with their topics so long ago. `drop_table` forgets them, once their files are gone."""
        ...

    async def make_ordinary(self, table: TableId, age_ms: int) -> bool:
        """A kept table that nobody has changed for so long is like any other from now on. Whether it is."""
        ...

    # --- receipts ------------------------------------------------------------------------------

    async def receipt(self, key: str) -> RequestReceipt | None:
        """What is known of a request that was carried out within the last RECEIPT_KEPT_MS."""
        ...


def is_listed(topic_config: str | None) -> bool:
    """From a topic's config as it is stored; tables without a topic are always listed."""
    return topic_config is None or lists_its_table(json.loads(topic_config))


def joined(namespace: Namespace) -> str:
    """A namespace as it is stored."""
    return _LEVEL_SEPARATOR.join(namespace)


def split(stored: str) -> Namespace:
    return tuple(stored.split(_LEVEL_SEPARATOR))

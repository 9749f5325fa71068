"""TableStore: the metadata store's verbs for tables, each of them one transaction.

A table is a pointer to its metadata file. A writer first writes the next file and then moves the pointer, if the
pointer is still where the writer read it. Verbs that change something take a receipt and keep it in the same
transaction. A request that was carried out before raises AnsweredBefore, which has its answer.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from lakestream.model.configs.topic_config import lists_its_table
from lakestream.model.table import Namespace, PointerMove, RequestReceipt, TableId, TableKind, TablePointer
from lakestream.model.topic import TopicId

RECEIPT_KEPT_MS = 3_600_000
"""Twice as long as the time in which clients may repeat a request."""

_LEVEL_SEPARATOR = "\x1f"

NOWHERE = ""
"""The namespace of dropped tables. Nobody can name it, so the tables' own names are free at once."""


class TableName(NamedTuple):
    name: str
    kind: TableKind
    listed: bool = True
    """Whether the catalog shows the table: a config of its topic decides."""
    topic: str | None = None
    """The name of the topic whose table it is."""


class TableStore(Protocol):
    # --- namespaces ----------------------------------------------------------------------------

    async def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str], *, receipt: RequestReceipt | None = None
    ) -> None:
        """Raises NamespaceExists; UnknownNamespace if its parent does not exist."""
        ...

    async def namespaces(self, parent: Namespace) -> list[Namespace]:
        """Namespaces directly below `parent`, or at the top if `parent` is empty, in order. Raises UnknownNamespace."""
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
        """Raises UnknownNamespace; CommitConflict if the current properties are not `expected`."""
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
        """Ids of all tables of these kinds, in every namespace, in order."""
        ...

    async def move_tables(self, moves: Sequence[PointerMove], *, receipt: RequestReceipt | None = None) -> None:
        """Create tables, with the topics that they make, move pointers, and register the schemas that these changes
        bring: all of them, or none. A move with a new topic makes an ordinary table that topic's. Raises CommitConflict
        if a pointer is not where it was expected, or if a schema has to be judged again, TableExists if a new table's
        name is taken, UnknownNamespace if its namespace does not exist, TopicExists if there is a topic of a new one's
        name, UnknownTopicId if a table's topic is gone."""
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
        """Tables dropped with their topics this long ago. `drop_table` forgets them once their files are gone."""
        ...

    async def make_ordinary(self, table: TableId, age_ms: int) -> bool:
        """Make a kept table ordinary if nobody has changed it for this long. Returns whether it is ordinary now."""
        ...

    # --- receipts ------------------------------------------------------------------------------

    async def receipt(self, key: str) -> RequestReceipt | None:
        """The receipt of a request that was carried out within the last RECEIPT_KEPT_MS."""
        ...


def is_listed(topic_config: str | None) -> bool:
    """Whether a topic's stored config lists its table. Tables without a topic are always listed."""
    return topic_config is None or lists_its_table(json.loads(topic_config))


def joined(namespace: Namespace) -> str:
    """A namespace in its stored form."""
    return _LEVEL_SEPARATOR.join(namespace)


def split(stored: str) -> Namespace:
    return tuple(stored.split(_LEVEL_SEPARATOR))

"""Resolves names to tables, and checks which names are free.

A topic's table has more names: `<table>__log` shows it as the log, `<table>__quarantine` shows the values that were set
aside. Nothing else can take these names, even while the topic hides its table.
"""

from lakestream.catalog.topic.topic_table import all_names, branch_of
from lakestream.metadata.rules.missing import shown_table, table_exists
from lakestream.metadata.table_store import TableStore
from lakestream.model.table import STREAMS, Namespace, TableKind, TablePointer
from lakestream.model.table_errors import Guarded


class TableNames:
    def __init__(self, store: TableStore) -> None:
        self._store = store

    async def find(
        self, namespace: Namespace, name: str, *, unlisted: bool = False
    ) -> tuple[TablePointer, str | None] | None:
        """A table of this name, or the topic's table and the branch that the name means. Tables that the catalog does
        not show are found only with `unlisted`."""
        found = await self._meant(namespace, name)
        return found if found is not None and (found[0].listed or unlisted) else None

    async def _meant(self, namespace: Namespace, name: str) -> tuple[TablePointer, str | None] | None:
        pointer = await self._store.table(namespace, name)
        if pointer is not None:
            return (pointer, None) if pointer.kind is not TableKind.VIEW else None
        if (meant := branch_of(name)) is not None:
            base, branch = meant
            pointer = await self._store.table(namespace, base)
            if pointer is not None and pointer.kind is TableKind.TOPIC:
                return pointer, branch
        return None

    async def is_taken(self, namespace: Namespace, name: str) -> bool:
        """Whether a table, a view or a branch of a topic's table has this name."""
        return await self._store.table(namespace, name) is not None or await self._meant(namespace, name) is not None

    async def check_free_for_topic(self, namespace: Namespace, name: str) -> None:
        """Check that a topic's table can have this name and its branches theirs. Another table would hide them."""
        for one in all_names(name):
            if await self.is_taken(namespace, one):
                raise table_exists(namespace, one)

    async def check_free(self, namespace: Namespace, name: str) -> None:
        """Check that other engines may create a table of this name."""
        await self._store.namespace_properties(namespace)
        if await self.is_taken(namespace, name):
            raise table_exists(namespace, name)
        if namespace == STREAMS:
            raise Guarded(
                f"{shown_table(namespace, name)}: tables of this namespace belong to topics. Create a topic "
                "(`lakestream topic create`) and its table will be here, or create the table in another namespace"
            )

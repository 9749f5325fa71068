"""Resolves names to tables, and checks which names are free.

A topic's table has more names: `<table>__log` shows it as the log, `<table>__quarantine` shows the values that were set
aside. Nothing else can take these names, even while the topic hides its table.
"""

from lakestream.catalog.topic.topic_table import all_names, branch_of
from lakestream.metadata.rules.missing import name_taken, new_name_taken, shown_table
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

    async def taken_by(self, namespace: Namespace, name: str) -> TableKind | None:
        """The kind of the table or view that has this name. A branch of a topic's table counts as the table."""
        if (pointer := await self._store.table(namespace, name)) is not None:
            return pointer.kind
        meant = await self._meant(namespace, name)
        return None if meant is None else meant[0].kind

    async def check_free_for_topic(self, namespace: Namespace, name: str) -> None:
        """Check that a topic's table can have this name and its branches theirs. Another table would hide them."""
        for one in all_names(name):
            await self._check_not_taken(namespace, one)

    async def check_free(self, namespace: Namespace, name: str) -> None:
        """Check that an ordinary table can have this name."""
        await self._store.namespace_properties(namespace)
        await self._check_not_taken(namespace, name)
        if namespace == STREAMS:
            raise Guarded(
                f"{shown_table(namespace, name)}: tables of this namespace belong to topics. Use CREATE TABLE, or "
                "create a topic (`lakestream topic create`), or put the table into another namespace"
            )

    async def check_rename(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        """Check that nothing has the name to which a table or view is to be renamed."""
        if (kind := await self.taken_by(*target)) is not None:
            raise new_name_taken(shown_table(*source), shown_table(*target), by_view=kind is TableKind.VIEW)

    async def _check_not_taken(self, namespace: Namespace, name: str) -> None:
        if (kind := await self.taken_by(namespace, name)) is not None:
            raise name_taken(namespace, name, by_view=kind is TableKind.VIEW, for_view=False)

"""What the catalog holds: namespaces with their tables and views, of topics and ordinary ones."""

from dataclasses import dataclass

from lakestream.metadata.store import MetadataStore
from lakestream.metadata.table_store import TableName
from lakestream.model.table import Namespace

NAMESPACES_MAX = 500
"""The most namespaces that one listing shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNamespace:
    name: str
    """With dots between its levels."""
    tables: tuple[TableName, ...]


class CatalogListing:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def look(self) -> tuple[ListedNamespace, ...]:
        """In the order of their names, at most NAMESPACES_MAX."""
        found: list[ListedNamespace] = []
        waiting: list[Namespace] = list(reversed(await self._store.tables.namespaces(())))
        while waiting and len(found) < NAMESPACES_MAX:
            namespace = waiting.pop()
            tables = [one for one in await self._store.tables.tables(namespace) if one.listed]
            found.append(ListedNamespace(name=".".join(namespace), tables=tuple(tables)))
            waiting += reversed(await self._store.tables.namespaces(namespace))
        return tuple(found)

"""ALTER TABLE is schema evolution: a change to the columns of a table whose rows are records changes the records, too.

    columns before and after -> the contract's next version -> properties, and a schema to register
                             -> in the transaction that moves the table's pointer

Tables of topics that Kafka clients made keep their own columns: there an ALTER TABLE changes the table alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.catalog.strangers.guards import takes_rows
from lakestream.model.registry import ForeseenVersion
from lakestream.model.table import TablePointer
from lakestream.model.table_errors import Guarded


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredColumns:
    updates: tuple[Json, ...] = ()
    """Further changes to the table."""
    registered: ForeseenVersion | None = None


class ColumnsOfRecords(Protocol):
    """Knows what the columns of a table mean for the records of its topic."""

    async def altered(
        self, pointer: TablePointer, metadata: Metadata, before: Sequence[Json], after: Sequence[Json]
    ) -> AlteredColumns:
        """`metadata` has the new columns already. Raises Guarded with the reason if the contract forbids the change."""
        ...


class AlteringEngines:
    def __init__(self, columns: ColumnsOfRecords | None) -> None:
        """Without `columns`, the columns of tables that take rows cannot be changed."""
        self._columns = columns

    async def altered(self, pointer: TablePointer, base: Metadata, changed: Metadata) -> AlteredColumns:
        """`changed` is the table after an engine's updates, which were checked. Raises Guarded."""
        before, after = current_fields(base), current_fields(changed)
        if before == after or not takes_rows(base):
            return AlteredColumns()
        if self._columns is None:
            raise Guarded("this catalog does not change the columns of topics: use one that does")
        return await self._columns.altered(pointer, changed, before, after)


def current_fields(metadata: Metadata) -> list[Json]:
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}
    return list(schema["fields"])

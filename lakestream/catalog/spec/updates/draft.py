"""A table while updates are being applied to it: the next metadata, and what the updates so far have added.

`-1` in an update means 'the one added last in this change', so a draft remembers those.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.model.table_errors import InvalidTableChange

LAST_ADDED = -1


@dataclass(slots=True, kw_only=True)
class Draft:
    metadata: Metadata
    """Its own outermost object; everything inside is shared with the metadata it came from and only replaced."""
    now_ms: int
    last_schema_id: int | None = None
    last_spec_id: int | None = None
    last_order_id: int | None = None
    last_version_id: int | None = None
    snapshot_ids: AbstractSet[int] = frozenset()
    """Of all that the table has by now."""
    added_snapshots: set[int] = field(default_factory=set)
    has_removed_snapshots: bool = False

    @property
    def format_version(self) -> int:
        return int(self.metadata["format-version"])

    def objects(self, name: str) -> list[Json]:
        found: list[Json] = self.metadata.get(name) or []
        return found


def meant_id(id: int, last_added: int | None, what: str) -> int:
    """The id an update means. Raises InvalidTableChange where -1 means one that was not added."""
    if id != LAST_ADDED:
        return id
    if last_added is None:
        raise InvalidTableChange(f"-1 means the {what} added last, and this change adds none")
    return last_added


def without(values: list[Json], id_name: str, ids: set[int]) -> list[Json]:
    return [value for value in values if value.get(id_name) not in ids]

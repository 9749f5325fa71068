"""A table while updates are applied to it: the next metadata, and the parts that the updates have added.

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
    """The draft owns the outermost object. Everything inside is shared with the original metadata and only replaced."""
    now_ms: int
    last_schema_id: int | None = None
    last_spec_id: int | None = None
    last_order_id: int | None = None
    last_version_id: int | None = None
    snapshot_ids: AbstractSet[int] = frozenset()
    """The ids of all snapshots that the table has by now."""
    added_snapshots: set[int] = field(default_factory=set)
    has_removed_snapshots: bool = False

    @property
    def format_version(self) -> int:
        return int(self.metadata["format-version"])

    def objects(self, name: str) -> list[Json]:
        found: list[Json] = self.metadata.get(name) or []
        return found


def meant_id(id: int, last_added: int | None, what: str) -> int:
    """The id that an update means. Raises InvalidTableChange if -1 refers to nothing that was added."""
    if id != LAST_ADDED:
        return id
    if last_added is None:
        raise InvalidTableChange(f"-1 means the {what} added last, and this change adds none")
    return last_added


def without(values: list[Json], id_name: str, ids: set[int]) -> list[Json]:
    return [value for value in values if value.get(id_name) not in ids]

"""Finds out from footers which files fit into one: those with the same columns, under rules that can be joined."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow.parquet as pq

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.merge_plan import Run, Unit
from lakestream.contract.values.joining import can_be_joined
from lakestream.storage.tablefile.format.footer import ending_bytes, parse_footer
from lakestream.world.objects.store import ObjectStore

TAIL_BYTES = 64 * 1024
"""The first GET of a file: its footer, or the whole of a small file."""
KEPT_MAX = 10_000
"""The files whose kind is remembered. Above it all are read again."""


class FileKind(NamedTuple):
    columns: str
    """Parquet's schema, with field ids."""
    rules: str | None
    """How values are read from typed columns; None without typed columns."""


class FileKinds:
    def __init__(self, objects: ObjectStore, locations: TableObjects) -> None:
        self._objects = objects
        self._locations = locations
        self._kept: dict[str, FileKind] = {}

    async def fitting(self, group: Run) -> list[Run]:
        """The group, cut where the kind of its files changes. Raises MalformedTableFile."""
        kinds = {path: await self._kind(path) for unit in group for path in unit.paths}
        if _fit(group, kinds):
            return [group]
        parts: list[Run] = []
        for unit in group:
            if not parts or not _fit([*parts[-1], unit], kinds):
                parts.append([])
            parts[-1].append(unit)
        return [part for part in parts if len(part) > 1]

    def forget(self, paths: Iterable[str]) -> None:
        """These files have left the log."""
        for path in paths:
            self._kept.pop(path, None)

    async def _kind(self, path: str) -> FileKind:
        if (kept := self._kept.get(path)) is not None:
            return kept
        key = self._locations.key_of(path)
        tail, size = await self._objects.get_tail(key, TAIL_BYTES)
        if (length := ending_bytes(path, tail, size)) > len(tail):
            tail = await self._objects.get_range(key, size - length, length)
        footer = parse_footer(path, tail, size)
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[path] = found = FileKind(_columns(footer.metadata.schema), footer.rules)
        return found


def _columns(schema: pq.ParquetSchema) -> str:
    """The schema as text: behind a first line with the object's address, every column with its type and field id."""
    return str(schema).partition("\n")[2]


def _fit(units: Sequence[Unit], kinds: dict[str, FileKind]) -> bool:
    shown = [kinds[unit.file.path] for unit in units if unit.file is not None]
    hidden = [kinds[unit.log_file.path] for unit in units if unit.log_file is not None]
    return _are_alike(shown) and _are_alike(hidden)


def _are_alike(kinds: Sequence[FileKind]) -> bool:
    rules = [kind.rules for kind in kinds if kind.rules is not None]
    same_columns = len({kind.columns for kind in kinds}) <= 1
    return same_columns and len(rules) in (0, len(kinds)) and can_be_joined(rules)

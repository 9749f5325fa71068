"""The tables as anyone finds them who has the bucket: pointer -> metadata -> snapshots -> manifests -> files -> rows.

Objects never change, so what was read once is kept; whether they are still there is another question.
"""

import gzip
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import fastavro
import pyarrow.parquet as pq

from lakestream.catalog.commits.summaries import LEDGER
from lakestream.catalog.files.locations import TABLES_FOLDER, TableObjects
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.row_form import Form
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH, STREAMS, TableKind, TablePointer
from lakestream.storage.tablefile.format.typed import VALUES_KEY
from lakestream.world.objects.memory import MemoryObjects
from tests.simulation.batches import Row, sent_of

_DELETED = 2


class TableRow(NamedTuple):
    number: int
    """Of the partition, in its topic."""
    row: Row
    form: Form | None
    """How it holds its value; None where the file's values are bytes."""
    columns: dict[str, Any]
    """What SQL sees of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    pointer: TablePointer
    metadata: dict[str, Any]
    files: dict[int, tuple[str, ...]]
    """Data files by snapshot."""
    reached: dict[int, frozenset[str]]
    """All that a snapshot refers to: manifest list, manifests and data files."""
    ledgers: tuple[dict[str, Any], ...]
    """Of the branch `log`, oldest first."""
    needed: frozenset[str]
    """Locations of everything that it refers to."""
    missing: tuple[str, ...]
    """What could not be read of that."""

    def head(self, branch: str) -> int:
        head: int = self.metadata["refs"][branch]["snapshot-id"]
        return head

    def reached_by(self, snapshots: Iterable[int]) -> set[str]:
        return {location for id in snapshots for location in self.reached[id]}

    @property
    def log_files(self) -> tuple[str, ...]:
        return self.files.get(self.head(LOG_BRANCH), ())

    @property
    def quarantine_files(self) -> tuple[str, ...]:
        return self.files.get(self.head(QUARANTINE_BRANCH), ()) if QUARANTINE_BRANCH in self.metadata["refs"] else ()

    @property
    def main_files(self) -> tuple[str, ...]:
        return self.files.get(self.head(MAIN_BRANCH), ())


@dataclass(slots=True)
class _Found:
    needed: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


class _Snapshot(NamedTuple):
    files: tuple[str, ...]
    reached: frozenset[str]
    missing: tuple[str, ...]


class Lake:
    def __init__(self, store: MetadataStore, objects: MemoryObjects) -> None:
        self._store = store
        self._objects = TableObjects(objects)
        self._memory = objects
        self._parsed: dict[str, Any] = {}
        self._snapshots: dict[str, _Snapshot] = {}
        self._tables: dict[str, Table] = {}

    async def tables(self) -> list[Table]:
        try:
            names = await self._store.tables.tables(STREAMS)
        except LakestreamError:
            return []  # no topic has a table yet
        pointers = [
            await self._store.tables.table(STREAMS, one.name) for one in names if one.kind is not TableKind.VIEW
        ]
        return [await self.table(pointer) for pointer in pointers if pointer is not None]

    async def keys(self) -> list[str]:
        """Every object of tables there is."""
        return [info.key async for info in self._memory.list(f"{TABLES_FOLDER}/")]

    def key(self, location: str) -> str:
        return self._objects.key_of(location)

    async def rows(self, file: str) -> list[TableRow]:
        """All rows of a data file, as any reader of Parquet sees them."""
        if file not in self._parsed:
            self._parsed[file] = _rows(bytes(await self._objects.read(file)))
        rows: list[TableRow] = self._parsed[file]
        return rows

    async def table(self, pointer: TablePointer) -> Table:
        kept = self._tables.get(pointer.metadata_location)
        if kept is None:
            kept = await self._read_table(pointer)
            if not kept.missing:
                self._tables[pointer.metadata_location] = kept
        return replace(kept, pointer=pointer)

    async def _read_table(self, pointer: TablePointer) -> Table:
        found = _Found()
        metadata = await self._read(pointer.metadata_location, found, _metadata)
        metadata = metadata or {"snapshots": [], "refs": {}}
        found.needed |= {entry["metadata-file"] for entry in metadata.get("metadata-log") or ()}
        files: dict[int, tuple[str, ...]] = {}
        reached: dict[int, frozenset[str]] = {}
        for snapshot in metadata["snapshots"]:
            id = snapshot["snapshot-id"]
            files[id], reached[id], missing = await self._snapshot(snapshot["manifest-list"])
            found.needed |= reached[id]
            found.missing += missing
        ledgers = [
            await self._read(location, found, json.loads) for location in _ledger_locations(metadata) if location
        ]
        return Table(
            pointer=pointer,
            metadata=metadata,
            files=files,
            reached=reached,
            ledgers=tuple(ledger for ledger in ledgers if ledger is not None),
            needed=frozenset(found.needed),
            missing=tuple(found.missing),
        )

    async def _snapshot(self, location: str) -> "_Snapshot":
        if (kept := self._snapshots.get(location)) is not None:
            return kept
        found, files = _Found(), list[str]()
        for manifest in await self._read(location, found, _avro) or ():
            entries = await self._read(manifest["manifest_path"], found, _avro) or ()
            files += [entry["data_file"]["file_path"] for entry in entries if entry["status"] != _DELETED]
        found.needed.update(files)
        snapshot = _Snapshot(tuple(files), frozenset(found.needed), tuple(found.missing))
        if not snapshot.missing:
            self._snapshots[location] = snapshot
        return snapshot

    async def _read(self, location: str, found: _Found, parse: Any) -> Any:
        found.needed.add(location)
        if location not in self._parsed:
            try:
                self._parsed[location] = parse(bytes(await self._objects.read(location)))
            except LakestreamError:
                found.missing.append(location)
                return None
        return self._parsed[location]


def _ledger_locations(metadata: dict[str, Any]) -> Iterable[str]:
    """Along `log`, oldest first."""
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in metadata["snapshots"]}
    chain = []
    at = metadata["refs"].get(LOG_BRANCH, {}).get("snapshot-id")
    while at in by_id:
        chain.append(by_id[at]["summary"].get(LEDGER))
        at = by_id[at].get("parent-snapshot-id")
    return [location for location in reversed(chain) if location]


def _metadata(content: bytes) -> Any:
    """With a reader that is not the product's own."""
    return json.loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)


def _avro(content: bytes) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(content)))


def _rows(content: bytes) -> list[TableRow]:
    """Values of typed rows are written again from their columns, by what the file says of itself."""
    table = pq.read_table(io.BytesIO(content)).combine_chunks()
    rules = (pq.read_metadata(io.BytesIO(content)).metadata or {}).get(VALUES_KEY.encode())
    times = table.column("__timestamp").cast("int64").to_pylist()
    values = table.column("__value")
    if rules is not None:
        values = ContractRestorer().restore(rules.decode(), table.to_batches()[0])
    return [
        TableRow(
            row["__partition"],
            Row(row["__offset"], time // 1000, sent_of(row["__key"], value, row["__headers"])),
            Form(row["__form"]) if rules is not None else None,
            row,
        )
        for row, time, value in zip(table.to_pylist(), times, values.to_pylist(), strict=True)
    ]

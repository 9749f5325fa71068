"""The table of a topic for people: columns and where each came from, branches, snapshots, and the largest files."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.catalog.commits.lineage import line_of
from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.summaries import JOB, LEDGER, MERGE, MOVED_ON, RETENTION
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.manifests.entries import EntryFormat, Status
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH

SNAPSHOTS_MAX = 40
"""The newest of each branch."""
FILES_MAX = 100
MANIFESTS_MAX = 200
"""The most manifests that one look reads. A table with more shows its newest files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    id: int
    name: str
    type: str
    source: str
    """value, key, record (the log's own facts), or engine (somebody's ALTER TABLE)."""
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSnapshot:
    id: int
    parent: int | None
    at_ms: int
    operation: str
    maker: str
    """creation, compaction, retention, or the engine that the summary names."""
    branches: tuple[str, ...]
    """The branches and tags that point at it."""
    on: tuple[str, ...]
    """The branches that have it in their line."""
    added_records: int
    added_files: int
    deleted_records: int
    total_records: int | None
    ledger: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDataFile:
    path: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    name: str
    listed: bool
    location: str
    metadata_location: str
    columns: tuple[TableColumn, ...]
    snapshots: tuple[TableSnapshot, ...]
    """Newest first."""
    files: tuple[TableDataFile, ...]
    """Of `log`, the largest first."""
    files_in_all: int
    delete_files: int
    """On `main`: rows that SQL deleted and the log still has."""


class TopicTableLooks:
    def __init__(self, store: MetadataStore, locations: TableObjects, files: MetadataFiles) -> None:
        self._store = store
        self._files = files
        self._snapshots = SnapshotFiles(locations)

    async def of(self, name: str) -> ShownTable | None:
        """None while there is no table. Raises UnknownTopic, DamagedTable."""
        [topic] = await named_topics(self._store, [name])
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            return None
        metadata = (await self._files.read(pointer.metadata_location)).metadata
        files = await self._data_files(metadata)
        return ShownTable(
            name=shown_table(pointer.namespace, pointer.name),
            listed=pointer.listed,
            location=metadata["location"],
            metadata_location=pointer.metadata_location,
            columns=_columns(metadata),
            snapshots=_snapshots(metadata),
            files=tuple(sorted(files, key=lambda file: (-file.bytes, file.path))[:FILES_MAX]),
            files_in_all=_total(metadata, LOG_BRANCH, "total-data-files"),
            delete_files=_total(metadata, MAIN_BRANCH, "total-delete-files"),
        )

    async def _data_files(self, metadata: Metadata) -> Sequence[TableDataFile]:
        head = _head(metadata, LOG_BRANCH)
        if head is None:
            return ()
        rows = [row for row in await self._snapshots.manifest_list(metadata, head) if row["content"] == Content.DATA]
        found: list[TableDataFile] = []
        for row in sorted(rows, key=lambda row: -row["sequence_number"])[:MANIFESTS_MAX]:
            format = EntryFormat(metadata, row["partition_spec_id"])
            entries = await self._snapshots.entries(metadata, row)
            found += [
                TableDataFile(path=entry.path, rows=entry.rows, bytes=format.file_bytes(entry))
                for entry in entries
                if entry.status is not Status.DELETED
            ]
        return found


def _head(metadata: Metadata, branch: str) -> int | None:
    found: int | None = ((metadata.get("refs") or {}).get(branch) or {}).get("snapshot-id")
    return found


def _total(metadata: Metadata, branch: str, name: str) -> int:
    head = _head(metadata, branch)
    snapshot = None if head is None else by_id(metadata["snapshots"], "snapshot-id", head)
    return int(((snapshot or {}).get("summary") or {}).get(name, 0))


def _columns(metadata: Metadata) -> tuple[TableColumn, ...]:
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}
    text = (metadata.get("properties") or {}).get(CONTRACT_PROPERTY)
    layout = None if text is None else TopicContract.from_text(text).layout
    of_values = {column.id for column in layout.columns} if layout else set()
    of_keys = {column.id for column in layout.key_columns} if layout else set()

    def source(field: Json) -> str:
        if field["name"].startswith("__"):
            return "record"
        return "value" if field["id"] in of_values else "key" if field["id"] in of_keys else "engine"

    return tuple(
        TableColumn(
            id=field["id"],
            name=field["name"],
            type=_type(field["type"]),
            source=source(field),
            doc=field.get("doc") or "",
        )
        for field in schema["fields"]
    )


def _type(type: str | Json) -> str:
    """struct<a: int, b: list<string>>"""
    if isinstance(type, str):
        return type
    match type["type"]:
        case "struct":
            fields = ", ".join(f"{one['name']}: {_type(one['type'])}" for one in type["fields"])
            return f"struct<{fields}>"
        case "list":
            return f"list<{_type(type['element'])}>"
        case "map":
            return f"map<{_type(type['key'])}, {_type(type['value'])}>"
        case other:
            return str(other)


def _snapshots(metadata: Metadata) -> tuple[TableSnapshot, ...]:
    refs: dict[str, Json] = metadata.get("refs") or {}
    branches = [name for name, ref in refs.items() if ref.get("type") == "branch"]
    on: dict[int, list[str]] = {}
    found: dict[int, Json] = {}
    for branch in sorted(branches):
        for number, snapshot in enumerate(line_of(metadata, refs[branch]["snapshot-id"])):
            if number >= SNAPSHOTS_MAX:
                break
            on.setdefault(snapshot["snapshot-id"], []).append(branch)
            found[snapshot["snapshot-id"]] = snapshot
    newest = sorted(found.values(), key=lambda one: (-one["timestamp-ms"], -one.get("sequence-number", 0)))
    return tuple(_snapshot(one, refs, on[one["snapshot-id"]]) for one in newest[:SNAPSHOTS_MAX])


def _snapshot(snapshot: Json, refs: dict[str, Json], on: list[str]) -> TableSnapshot:
    summary = snapshot.get("summary") or {}
    total = summary.get("total-records")
    return TableSnapshot(
        id=snapshot["snapshot-id"],
        parent=snapshot.get("parent-snapshot-id"),
        at_ms=snapshot["timestamp-ms"],
        operation=summary.get("operation", ""),
        maker=_maker(summary, is_first=snapshot.get("parent-snapshot-id") is None),
        branches=tuple(name for name, ref in refs.items() if ref["snapshot-id"] == snapshot["snapshot-id"]),
        on=tuple(on),
        added_records=int(summary.get("added-records", 0)),
        added_files=int(summary.get("added-data-files", 0)),
        deleted_records=int(summary.get("deleted-records", 0)) + int(summary.get("added-position-deletes", 0)),
        total_records=None if total is None else int(total),
        ledger=summary.get(LEDGER),
    )


def _maker(summary: Json, *, is_first: bool) -> str:
    if JOB in summary:
        return "compaction"
    if MERGE in summary:
        return "merge"
    if RETENTION in summary or MOVED_ON in summary:
        return "retention"
    engine, version = summary.get("engine-name", ""), summary.get("engine-version", "")
    return f"{engine} {version}".strip() or ("creation" if is_first else "an engine")

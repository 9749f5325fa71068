"""Tables, files and a small world for the catalog's tests: fixed time, seeded ids, everything in memory."""

import asyncio
import io
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import fastavro

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.removals import remove_files
from lakestream.catalog.commits.snapshots import append_files
from lakestream.catalog.commits.table_state import TableState
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.creation import new_table
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.topic.topic_table import TopicTableSpec, new_topic_table
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects

NOW_MS = 1_700_000_000_000
UUID = "0f7c0f7c-0000-4000-8000-000000000001"
LOCATION = f"memory:///tables/{UUID}"

T = TypeVar("T")


def seeded_ids(seed: int = 7) -> Ids:
    return Ids(SystemClock(), SeededChance(seed))


def names_of(ids: Ids, version: int = 0) -> CommitNames:
    return CommitNames(folder=f"{LOCATION}-log/metadata", version=version, attempt=ids.uuid())


def field(id: int, name: str, type: Any = "long", **more: Any) -> Json:
    return {"id": id, "name": name, "required": False, "type": type, **more}


def schema(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def table(*, format_version: int = 2, **request: Any) -> Metadata:
    """An ordinary table of two columns."""
    asked: Json = {"name": "t", "schema": schema(field(1, "id"), field(2, "name", "string")), **request}
    asked["properties"] = {"format-version": str(format_version), **asked.get("properties", {})}
    return new_table(asked, uuid=UUID, location=LOCATION, now_ms=NOW_MS)


def snapshot(id: int, *, sequence: int = 1, parent: int | None = None, **more: Any) -> Json:
    parents = {} if parent is None else {"parent-snapshot-id": parent}
    return {
        "snapshot-id": id,
        "sequence-number": sequence,
        "timestamp-ms": NOW_MS + sequence,
        "manifest-list": f"{LOCATION}/metadata/snap-{id}.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
        **parents,
        **more,
    }


def add(id: int, **facts: Any) -> Json:
    return {"action": "add-snapshot", "snapshot": snapshot(id, **facts)}


def to_branch(name: str, id: int, **more: Any) -> Json:
    return {"action": "set-snapshot-ref", "ref-name": name, "type": "branch", "snapshot-id": id, **more}


def applied(metadata: Metadata, *updates: Json, now_ms: int = NOW_MS + 1_000) -> Metadata:
    return apply_updates(metadata, updates, now_ms=now_ms)


def data_file(name: str, *, rows: int = 10, spec_id: int = 0, partition: Sequence[Any] = ()) -> Json:
    return {
        "spec-id": spec_id,
        "content": "data",
        "file-path": f"{LOCATION}/data/{name}.parquet",
        "file-format": "parquet",
        "partition": list(partition),
        "record-count": rows,
        "file-size-in-bytes": 100 * rows,
        "column-sizes": {"keys": [1, 2], "values": [40, 60]},
        "value-counts": {"keys": [1, 2], "values": [rows, rows]},
        "null-value-counts": {"keys": [1, 2], "values": [0, 1]},
        "lower-bounds": {"keys": [1], "values": ["0100000000000000"]},
        "upper-bounds": {"keys": [1], "values": ["0A00000000000000"]},
        "split-offsets": [4],
    }


def avro_list(rows: Sequence[Json]) -> bytes:
    """A manifest list of rows that say no more than this."""
    fields = [{"name": "manifest_path", "type": "string"}, {"name": "partition_spec_id", "type": "int"}]
    schema = {"type": "record", "name": "manifest_file", "fields": fields}
    out = io.BytesIO()
    named = [{"manifest_path": f"{LOCATION}/metadata/m.avro", **row} for row in rows]
    fastavro.writer(out, fastavro.parse_schema(schema), named)
    return out.getvalue()


class Lake:
    """One topic's table in memory, and commits to it without a metadata store."""

    def __init__(self, format_version: int = 2, ids: Ids | None = None) -> None:
        self.ids = ids or seeded_ids()
        self.objects = TableObjects(MemoryObjects(SystemClock()))
        self.files = SnapshotFiles(self.objects)
        self.metadata, objects = new_topic_table(
            TopicTableSpec(
                fields=[field(1, "id"), field(2, "name", "string"), field(2_000_000_102, "__offset")],
                last_column_id=2_000_000_999,
                properties={},
                format_version=format_version,
            ),
            location=LOCATION,
            now_ms=NOW_MS,
            ids=self.ids,
            names=self.names(),
            uuid=UUID,
        )
        self.run(self.files.write(objects))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def names(self) -> CommitNames:
        return names_of(self.ids)

    def state(self, *refs: str) -> TableState:
        return self.run(self.files.table_state(self.metadata, refs))

    def forget(self) -> None:
        """What is in memory of manifests: they are read again, as those that others wrote."""
        self.files = SnapshotFiles(self.objects)

    def append(self, *files: Json, only_log: Sequence[Json] = (), **summary: str) -> dict[str, int]:
        by_branch = {"log": [*files, *only_log], "main": list(files)}
        plan = append_files(
            self.state(*by_branch), by_branch, summary=summary, now_ms=NOW_MS, ids=self.ids, names=self.names()
        )
        self.run(self.files.write(plan.objects))
        self.metadata = applied(self.metadata, *plan.updates)
        return dict(plan.heads)

    def remove(self, *names: str) -> None:
        """Files leave both branches."""
        branches = ("log", "main")
        state = self.run(self.files.whole_state(self.metadata, branches))
        ends = tuple(f"/{name}.parquet" for name in names)
        gone = {entry.path for own in state.entries.values() for entry in own if entry.path.endswith(ends)}
        plan = remove_files(
            state, dict.fromkeys(branches, gone), summary={}, now_ms=NOW_MS, ids=self.ids, names=self.names()
        )
        assert plan is not None
        self.run(self.files.write(plan.objects))
        self.metadata = applied(self.metadata, *plan.updates)

    def diverge(self) -> None:
        """Someone commits to main alone."""
        parent = self.head("main")
        id, sequence = self.ids.snapshot_id(), self.metadata["last-sequence-number"] + 1
        lineage = {"first-row-id": self.metadata["next-row-id"], "added-rows": 0} if self.is_v3 else {}
        old = next(one for one in self.metadata["snapshots"] if one["snapshot-id"] == parent)
        made = {**old, **snapshot(id, sequence=sequence, parent=parent, **lineage)}
        made |= {"manifest-list": old["manifest-list"], "summary": {**old["summary"], "operation": "overwrite"}}
        self.metadata = applied(self.metadata, {"action": "add-snapshot", "snapshot": made}, to_branch("main", id))

    @property
    def is_v3(self) -> bool:
        return bool(self.metadata["format-version"] >= 3)

    def head(self, ref: str) -> int:
        return int(self.metadata["refs"][ref]["snapshot-id"])

    def snapshot(self, ref: str) -> Json:
        return next(one for one in self.metadata["snapshots"] if one["snapshot-id"] == self.head(ref))

    def manifests(self, ref: str) -> list[Json]:
        return list(self.run(self.files.manifest_list(self.metadata, self.head(ref))))

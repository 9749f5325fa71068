"""A stranger: another engine that changes topics' tables through the catalog, as anyone may.

delete   a snapshot of `main` without some of its files; from then on `main` and `log` are apart
expire   old snapshots go, then the files that no snapshot reaches any more, as Iceberg's own procedure does it
orphans  whatever lies in the table's folder and no snapshot reaches goes at once, however young it is

It writes its own files, but the catalog's face that it asks is a process of ours, in the weather.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import encode_manifest, encode_manifest_list, manifest_row
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import TableChange
from lakestream.catalog.spec.values import by_id
from lakestream.model.errors import LakestreamError
from lakestream.model.table import MAIN_BRANCH, STREAMS
from lakestream.model.topic import TopicId
from lakestream.protocol.rest.catalog.branch_fields import branch_fields
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from tests.simulation.chaos import repeat
from tests.simulation.clocks import WorldClock
from tests.simulation.life import Life
from tests.simulation.stores import ReachedMetadata, ReachedObjects
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict
from tests.simulation.witness import Witness

from .lake import Lake, Table
from .pipelines import WorkerLives

KEPT_SNAPSHOTS = 3


class Stranger:
    def __init__(
        self,
        lake: Lake,
        gateways: WorkerLives,
        *,
        store: Any,
        objects: MemoryObjects,
        witness: Witness,
        clock: WorldClock,
        trace: Trace,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        self.deleted: dict[int, frozenset[str]] = {}
        """Files that left `main`, by the snapshot that took them out: it may have been refused."""
        self._lake = lake
        self._gateways = gateways
        self._store = store
        self._objects = objects
        self._locations = TableObjects(objects)
        self._snapshots = SnapshotFiles(self._locations)
        self._witness = witness
        self._clock = clock
        self._trace = trace
        self._verdict = verdict
        self._rng = rng
        self._ids = Ids(clock, SeededChance(rng.getrandbits(64)))
        self._gateway: tuple[Life, TableCatalog] | None = None

    async def run(self, seconds: float) -> None:
        await repeat(seconds, self._act, self._rng)

    async def _act(self) -> None:
        tables = await self._lake.tables()
        if not tables:
            return
        table = self._rng.choice(tables)
        act = self._rng.choice([self._delete, self._delete, self._expire, self._remove_orphans])
        try:
            told = await act(table)
        except LakestreamError as error:
            told = repr(error)
        except asyncio.CancelledError:
            if self._gateway is None or not self._gateway[0].is_dead:
                raise
            told = "the gateway died"
        self._trace.note(f"stranger {act.__name__.strip('_')}", table.pointer.name, told)

    # --- acts ------------------------------------------------------------------------------------

    async def _delete(self, table: Table) -> str:
        files = sorted(table.main_files)
        if not files:
            return "nothing there"
        gone = frozenset(self._rng.sample(files, self._rng.randint(1, len(files))))
        snapshot = await self._write_snapshot(table, gone)
        self.deleted[snapshot["snapshot-id"]] = gone
        await self._commit(
            table,
            [
                {"action": "add-snapshot", "snapshot": snapshot},
                {
                    "action": "set-snapshot-ref",
                    "ref-name": MAIN_BRANCH,
                    "type": "branch",
                    "snapshot-id": snapshot["snapshot-id"],
                },
            ],
        )
        return f"{len(gone)} of {len(files)} files"

    async def _expire(self, table: Table) -> str:
        heads = {ref["snapshot-id"] for ref in table.metadata["refs"].values()}
        old = [snapshot["snapshot-id"] for snapshot in table.metadata["snapshots"][:-KEPT_SNAPSHOTS]]
        expired = [id for id in old if id not in heads]
        if not expired:
            return "nothing old"
        await self._commit(table, [{"action": "remove-snapshots", "snapshot-ids": expired}])
        after = await self._same_table(table)
        if after is None:
            return "it is gone"
        kept = {snapshot["snapshot-id"] for snapshot in after.metadata["snapshots"]}
        gone = table.reached_by(id for id in expired if id not in kept) - after.needed
        await self._remove(sorted(gone))
        return f"{len(expired)} snapshots, {len(gone)} files"

    async def _remove_orphans(self, table: Table) -> str:
        folder = self._lake.key(table.metadata["location"]) + "/"
        listed = [info.key async for info in self._objects.list(folder)]
        needed = {self._lake.key(location) for location in table.needed}
        orphans = [key for key in listed if key not in needed]
        await self._witness.deleting(orphans)
        await self._objects.delete(orphans)
        return f"{len(orphans)} of {len(listed)}"

    # --- how -------------------------------------------------------------------------------------

    async def _write_snapshot(self, table: Table, gone: frozenset[str]) -> dict[str, Any]:
        metadata, parent_id = table.metadata, table.head(MAIN_BRANCH)
        snapshot_id, sequence = self._ids.snapshot_id(), metadata["last-sequence-number"] + 1
        rows = [
            await self._without(table, row, gone, snapshot_id, sequence)
            for row in await self._snapshots.manifest_list(metadata, parent_id)
        ]
        parent = by_id(metadata["snapshots"], "snapshot-id", parent_id)
        assert parent is not None
        location = f"{metadata['location']}/metadata/snap-{snapshot_id}-1-{self._ids.uuid()}.avro"
        snapshot = {
            "snapshot-id": snapshot_id,
            "parent-snapshot-id": parent_id,
            "sequence-number": sequence,
            "timestamp-ms": max(self._clock.wall_ms(), metadata["last-updated-ms"]),
            "manifest-list": location,
            "summary": {"operation": "delete", "deleted-data-files": str(len(gone))},
            "schema-id": metadata["current-schema-id"],
        }
        await self._locations.write(
            location, encode_manifest_list(metadata, rows, snapshot=snapshot, parent_id=parent_id)
        )
        return snapshot

    async def _without(
        self, table: Table, row: ManifestFile, gone: frozenset[str], snapshot_id: int, sequence: int
    ) -> ManifestFile:
        entries = await self._snapshots.entries(table.metadata, row)
        if not any(entry.path in gone for entry in entries):
            return row
        left = [_entry(entry, gone, snapshot_id) for entry in settled_entries(entries, row)]
        format = EntryFormat(table.metadata, row["partition_spec_id"])
        content = encode_manifest(table.metadata, format, left)
        location = f"{table.metadata['location']}/metadata/{self._ids.uuid()}-m0.avro"
        await self._locations.write(location, content)
        return manifest_row(
            format,
            left,
            [{}] * len(left),
            location=location,
            length=len(content),
            snapshot_id=snapshot_id,
            sequence_number=sequence,
            first_row_id=None,
        )

    async def _commit(self, table: Table, updates: list[dict[str, Any]]) -> None:
        requirements = [
            {"type": "assert-table-uuid", "uuid": table.metadata["table-uuid"]},
            {"type": "assert-ref-snapshot-id", "ref": MAIN_BRANCH, "snapshot-id": table.head(MAIN_BRANCH)},
        ]
        change = TableChange(namespace=STREAMS, name=table.pointer.name, requirements=requirements, updates=updates)
        await self._face().commit([change])

    def _face(self) -> TableCatalog:
        if self._gateway is None or self._gateway[0].is_dead:
            life = self._gateways.new_life(f"g{self._rng.getrandbits(16)}")
            store: Any = ReachedMetadata(self._store, life, self._witness)
            locations = TableObjects(ReachedObjects(self._objects, life, self._witness))
            ids = Ids(life.clock, SeededChance(self._rng.getrandbits(64)))
            files = MetadataFiles(locations, ids=ids)
            face = TableCatalog(
                store=store.tables,
                objects=locations,
                files=files,
                clock=life.clock,
                ids=ids,
                delete_topic=_keep,
                branch_fields=branch_fields,
            )
            self._gateway = (life, face)
        return self._gateway[1]

    async def _same_table(self, table: Table) -> Table | None:
        return next((one for one in await self._lake.tables() if one.pointer.id == table.pointer.id), None)

    async def _remove(self, locations: Sequence[str]) -> None:
        keys = [self._lake.key(location) for location in locations]
        await self._witness.deleting(keys)
        await self._objects.delete(keys)


def _entry(entry: ManifestEntry, gone: frozenset[str], snapshot_id: int) -> ManifestEntry:
    if entry.path not in gone:
        return entry
    return replace(entry, status=Status.DELETED, snapshot_id=snapshot_id)


async def _keep(topic: TopicId) -> None:
    raise AssertionError("nobody drops tables here")

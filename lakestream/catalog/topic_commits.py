"""Our own commits to a topic's table, ready to be pointed to: everything but the move of the pointer.

    prepared = await commits.append(pointer, {"log": files, "main": files}, summary=...)
    ... one metadata transaction makes prepared.move, and whatever belongs together with it ...
    await commits.finish(prepared)        or, where the transaction was refused:  await commits.abandon(prepared)

The caller moves the pointer, because it does so together with more: the topic's spans, the job, the fencing token.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from lakestream.catalog.apply import apply_updates
from lakestream.catalog.data_files import DataFile
from lakestream.catalog.entries import ManifestFile
from lakestream.catalog.expiry import SNAPSHOTS_KEPT, snapshots_to_expire, superfluous_files
from lakestream.catalog.locations import TableObjects
from lakestream.catalog.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.reading import SnapshotFiles
from lakestream.catalog.snapshots import NewObject, append_files
from lakestream.catalog.topic_table import new_topic_table
from lakestream.catalog.values import Json, Metadata
from lakestream.model.errors import LakestreamError
from lakestream.model.table import Namespace, PointerMove, TableKind, TablePointer
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommit:
    """Written, and not yet visible to anyone."""

    move: PointerMove
    metadata: Metadata
    heads: Mapping[str, int]
    """The snapshot each branch will be at."""
    objects: tuple[NewObject, ...]
    superfluous: tuple[str, ...]


class TopicCommits:
    def __init__(self, *, objects: TableObjects, files: MetadataFiles, clock: Clock, ids: Ids) -> None:
        self._objects = objects
        self._files = files
        self._snapshots = SnapshotFiles(objects)
        self._clock = clock
        self._ids = ids

    async def create(
        self,
        topic: TopicId,
        namespace: Namespace,
        name: str,
        fields: Sequence[Json],
        *,
        last_column_id: int,
        properties: Mapping[str, str],
        format_version: int = 2,
    ) -> PreparedCommit:
        """The table of a new topic. `fields` and `last_column_id`: see new_topic_table."""
        uuid = self._ids.uuid()
        metadata, objects = new_topic_table(
            fields,
            properties,
            location=self._objects.table_location(uuid),
            now_ms=self._clock.wall_ms(),
            ids=self._ids,
            uuid=uuid,
            last_column_id=last_column_id,
            format_version=format_version,
        )
        await self._snapshots.write(objects)
        pointer = TablePointer(
            id=uuid,
            namespace=namespace,
            name=name,
            kind=TableKind.TOPIC,
            metadata_location=await self._files.write_first(metadata),
            topic=topic,
        )
        heads = {ref: value["snapshot-id"] for ref, value in metadata["refs"].items()}
        move = PointerMove(pointer=pointer, expected_location=None)
        return PreparedCommit(move=move, metadata=metadata, heads=heads, objects=objects, superfluous=())

    async def append(
        self, pointer: TablePointer, files: Mapping[str, Sequence[DataFile]], *, summary: Mapping[str, str]
    ) -> PreparedCommit:
        """Append `files`, by branch, to the table as the pointer shows it; the branch named first hands out row ids.
        Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        state = await self._snapshots.table_state(base.metadata, files)
        now_ms = self._clock.wall_ms()
        plan = append_files(state, files, summary=summary, now_ms=now_ms, ids=self._ids)
        await self._snapshots.write(plan.objects)
        return await self._next(pointer, base, plan.updates, objects=plan.objects, heads=plan.heads)

    async def expire(self, pointer: TablePointer, *, keep: int = SNAPSHOTS_KEPT) -> PreparedCommit | None:
        """Forget old snapshots, once there are half as many again as `keep`; None while there are not. All manifest
        lists are read (they mostly are in memory), so that nothing is deleted that any branch or tag still needs."""
        base = await self._files.read(pointer.metadata_location)
        if len(base.metadata["snapshots"]) <= keep + keep // 2:
            return None
        expired = snapshots_to_expire(base.metadata, keep=keep)
        ids = {snapshot["snapshot-id"] for snapshot in expired}
        lists = {
            snapshot["snapshot-id"]: await self._snapshots.manifest_list(base.metadata, snapshot["snapshot-id"])
            for snapshot in base.metadata["snapshots"]
        }
        superfluous = superfluous_files(
            expired, [lists[id] for id in ids], [rows for id, rows in lists.items() if id not in ids]
        )
        updates = ({"action": "remove-snapshots", "snapshot-ids": sorted(ids)},)
        return await self._next(pointer, base, updates, superfluous=superfluous)

    async def _next(
        self,
        pointer: TablePointer,
        base: MetadataFile,
        updates: Sequence[Json],
        *,
        objects: tuple[NewObject, ...] = (),
        heads: Mapping[str, int] | None = None,
        superfluous: tuple[str, ...] = (),
    ) -> PreparedCommit:
        changed = apply_updates(base.metadata, updates, now_ms=self._clock.wall_ms())
        next = await self._files.write_next(base, changed)
        moved = replace(pointer, metadata_location=next.location)
        return PreparedCommit(
            move=PointerMove(pointer=moved, expected_location=pointer.metadata_location),
            metadata=next.metadata,
            heads=heads or {},
            objects=objects,
            superfluous=(*next.superfluous, *superfluous),
        )

    async def manifests_of(self, metadata: Metadata, snapshot_id: int) -> Sequence[ManifestFile]:
        """What a snapshot is made of. Raises DamagedTable."""
        return await self._snapshots.manifest_list(metadata, snapshot_id)

    async def finish(self, prepared: PreparedCommit) -> None:
        """The pointer has moved: files that the table no longer needs go. The commit stands if they do not."""
        with suppress(LakestreamError):
            await self._snapshots.delete(prepared.superfluous)

    async def abandon(self, prepared: PreparedCommit) -> None:
        """The pointer has surely not moved and never will: remove what was written. Where that is not certain (the
        store did not answer), ask what became of the transaction first."""
        await self._files.delete((prepared.move.pointer.metadata_location,))
        await self._snapshots.delete([new.location for new in prepared.objects])

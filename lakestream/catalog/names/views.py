"""Views by name: load, create, replace, register, rename, drop. spec/views.py defines views and their changes."""

from dataclasses import replace

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.names.lookup import TableNames
from lakestream.catalog.spec.requests import Once, TableChange, checked_name, located, receipt_of
from lakestream.catalog.spec.requirements import check_view_requirements
from lakestream.catalog.spec.values import Json, Metadata, optional, wanted
from lakestream.catalog.spec.views import apply_view_updates, check_whole_view, new_view
from lakestream.metadata.rules.missing import name_taken, unknown_view
from lakestream.metadata.table_store import TableStore
from lakestream.model.errors import Conflict
from lakestream.model.table import Namespace, PointerMove, TableKind, TablePointer
from lakestream.model.table_errors import CommitConflict
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

_COMMIT_ATTEMPTS_MAX = 4


class ViewCatalog:
    def __init__(
        self, *, store: TableStore, objects: TableObjects, files: MetadataFiles, clock: Clock, ids: Ids
    ) -> None:
        self._store = store
        self._names = TableNames(store)
        self._objects = objects
        self._files = files
        self._clock = clock
        self._ids = ids

    async def load(self, namespace: Namespace, name: str) -> MetadataFile:
        """Raises UnknownView."""
        return await self._files.read_present((await self._pointer(namespace, name)).metadata_location)

    async def names(self, namespace: Namespace) -> list[str]:
        """Raises UnknownNamespace."""
        return [found.name for found in await self._store.tables(namespace) if found.kind is TableKind.VIEW]

    async def exists(self, namespace: Namespace, name: str) -> bool:
        pointer = await self._store.table(namespace, name)
        return pointer is not None and pointer.kind is TableKind.VIEW

    async def create(self, namespace: Namespace, request: Json, *, once: Once | None = None) -> MetadataFile:
        """Raises TableExists, UnknownNamespace, InvalidLocation."""
        name, uuid = checked_name(request.get("name")), self._ids.uuid()
        await self._check_new(namespace, name)
        location = (optional(request, "location", str) or self._objects.table_location(uuid)).rstrip("/")
        self._objects.check_folder(location, uuid)
        view = new_view(request, uuid=uuid, location=location, now_ms=self._clock.wall_ms())
        file_location = await self._files.write_first(view)
        try:
            return await self._add(namespace, name, view, file_location, once)
        except Conflict:
            await self._files.delete((file_location,))
            raise

    async def register(self, namespace: Namespace, request: Json, *, once: Once | None = None) -> MetadataFile:
        name, location = checked_name(request.get("name")), wanted(request, "metadata-location", str)
        await self._check_new(namespace, name)
        file = await self._files.read_offered(location)
        check_whole_view(file.metadata)
        return await self._add(namespace, name, file.metadata, location, once)

    async def commit(self, change: TableChange, *, once: Once | None = None) -> MetadataFile:
        """Raises CommitConflict, InvalidTableChange."""
        for attempt in range(1, _COMMIT_ATTEMPTS_MAX + 1):
            pointer = await self._pointer(change.namespace, change.name)
            base = await self._files.read(pointer.metadata_location)
            check_view_requirements(base.metadata, change.requirements)
            changed = apply_view_updates(base.metadata, change.updates, now_ms=self._clock.wall_ms())
            self._objects.check_folder(changed["location"], changed["view-uuid"])
            location = await self._files.write_after(base, changed)
            moved = replace(pointer, metadata_location=location)
            move = PointerMove(pointer=moved, expected_location=pointer.metadata_location)
            try:
                receipt = receipt_of(once, located([location], change.namespace, change.name))
                await self._store.move_tables([move], receipt=receipt)
                break
            except Conflict as error:
                await self._files.delete((location,))
                if attempt == _COMMIT_ATTEMPTS_MAX or not isinstance(error, CommitConflict):
                    raise
        return await self._files.read(location)

    async def rename(
        self, source: tuple[Namespace, str], target: tuple[Namespace, str], *, once: Once | None = None
    ) -> None:
        pointer = await self._pointer(*source)
        namespace, name = target[0], checked_name(target[1])
        await self._store.namespace_properties(namespace)
        await self._names.check_rename(source, (namespace, name))
        await self._store.rename_table(pointer.id, namespace, name, receipt=receipt_of(once, {}))

    async def drop(self, namespace: Namespace, name: str, *, once: Once | None = None) -> None:
        pointer = await self._pointer(namespace, name)
        await self._store.drop_table(pointer.id, receipt=receipt_of(once, {}))

    async def _pointer(self, namespace: Namespace, name: str) -> TablePointer:
        pointer = await self._store.table(namespace, name)
        if pointer is None or pointer.kind is not TableKind.VIEW:
            raise unknown_view(namespace, name)
        return pointer

    async def _check_new(self, namespace: Namespace, name: str) -> None:
        await self._store.namespace_properties(namespace)
        if (kind := await self._names.taken_by(namespace, name)) is not None:
            raise name_taken(namespace, name, by_view=kind is TableKind.VIEW, for_view=True)

    async def _add(
        self, namespace: Namespace, name: str, view: Metadata, location: str, once: Once | None
    ) -> MetadataFile:
        pointer = TablePointer(
            id=view["view-uuid"],
            namespace=namespace,
            name=name,
            kind=TableKind.VIEW,
            metadata_location=location,
        )
        move = PointerMove(pointer=pointer, expected_location=None)
        receipt = receipt_of(once, located([location], namespace, name))
        await self._store.move_tables([move], receipt=receipt)
        return await self._files.read(location)

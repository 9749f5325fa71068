"""Reads table files by location: the index holds locations from table metadata, the object store works with keys."""

from lakestream.catalog.files.locations import TableObjects
from lakestream.world.objects.store import Buffer, ObjectStore


class LocatedObjects:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._locations = TableObjects(objects)

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        return await self._objects.get_range(self._locations.key_of(key), at, length)

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        return await self._objects.get_tail(self._locations.key_of(key), length)

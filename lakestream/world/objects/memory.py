"""Objects in this process's memory (`memory://`): for tests, demos and simulation. Gone when it ends.

Every verb runs to its end without yielding to the event loop, so a seeded run is the same each time.
"""

from collections.abc import AsyncIterator, Sequence

from lakestream.model.errors import ObjectExists, ObjectMissing
from lakestream.world.clock import Clock
from lakestream.world.objects.keys import checked_key
from lakestream.world.objects.store import Buffer, ObjectInfo


class MemoryObjects:
    url = "memory://"
    is_remote = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._objects: dict[str, tuple[bytes, int]] = {}

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        if checked_key(key) in self._objects:
            raise ObjectExists(f"object {key} is there already")
        # Joined, hence copied: the caller may reuse its buffers as soon as the put returns.
        self._objects[key] = (b"".join(parts), self._clock.wall_ms())

    async def get(self, key: str) -> Buffer:
        return self._content(key)

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        return memoryview(self._content(key))[at : at + length]

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        content = self._content(key)
        return memoryview(content)[max(0, len(content) - length) :], len(content)

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        found = (self._objects.get(checked_key(key)) for key in keys)
        return [None if each is None else len(each[0]) for each in found]

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        for key in sorted(key for key in self._objects if key.startswith(prefix)):
            if (found := self._objects.get(key)) is not None:
                yield ObjectInfo(key, len(found[0]), found[1])

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        for key in keys:
            self._objects.pop(checked_key(key), None)

    async def close(self) -> None:
        pass

    def _content(self, key: str) -> bytes:
        if (found := self._objects.get(checked_key(key))) is None:
            raise ObjectMissing(f"there is no object {key} in {self.url}")
        return found[0]

"""A process that dies: its stores count every call, and from a chosen one on nothing it does has any effect.

The call at which it dies happens or does not (`after`): both leave something different behind.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from lakestream.world.objects.store import Buffer, ObjectInfo, ObjectStore


class Killed(BaseException):
    """Nobody handles this."""


class Fate:
    def __init__(self, *, at: int | None = None, after: bool = False) -> None:
        self.calls: list[str] = []
        self._at = at
        self._after = after
        self._dead = False

    async def live(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        if self._dead:
            raise Killed(name)
        self.calls.append(name)
        if len(self.calls) - 1 != self._at:
            return await act()
        self._dead = True
        if self._after:
            await act()
        raise Killed(name)


class MortalVerbs:
    """A store as the process reaches it; `jobs` and `tables` are reached the same way."""

    def __init__(self, inner: Any, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in ("jobs", "tables") and not callable(found):
            return MortalVerbs(found, self._fate)
        if not callable(found):
            return found

        async def verb(*args: Any, **kwargs: Any) -> Any:
            return await self._fate.live(name, lambda: found(*args, **kwargs))

        return verb


class MortalObjects:
    is_remote = False

    def __init__(self, inner: ObjectStore, fate: Fate) -> None:
        self.url = inner.url
        self._inner = inner
        self._fate = fate

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        await self._fate.live(f"put {_kind(key)}", lambda: self._inner.put(key, parts))

    async def get(self, key: str) -> Buffer:
        return await self._inner.get(key)

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        return await self._inner.get_range(key, at, length)

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        return await self._inner.get_tail(key, length)

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        return await self._inner.sizes(keys)

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        async for info in self._inner.list(prefix):
            yield info

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        await self._fate.live("delete", lambda: self._inner.delete(keys, unused_folders=unused_folders))

    async def close(self) -> None:
        pass


def _kind(key: str) -> str:
    return key.rpartition("/")[2].rpartition(".")[2]

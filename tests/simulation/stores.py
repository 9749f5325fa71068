"""The stores as one life reaches them: every verb goes through its weather and is seen by the witness."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import Buffer, ObjectInfo

from .life import Life
from .witness import Watching


class ReachedMetadata:
    """Any verb of the metadata store and of the smaller ones in it, those yet to come included, by delegation."""

    def __init__(self, inner: Any, life: Life, witness: Watching) -> None:
        self._inner = inner
        self._life = life
        self._witness = witness

    @property
    def url(self) -> str:
        return str(self._inner.url)

    def __getattr__(self, verb: str) -> Any:
        act = getattr(self._inner, verb)
        if not callable(act):
            return ReachedMetadata(act, self._life, self._witness)

        async def call(*args: Any, **kwargs: Any) -> Any:
            watched = partial(self._witness.watched, self._life.name, verb, act, args, kwargs)
            return await self._life.call("store", verb, watched, _about(args))

        return call

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        end = self._inner.on_change(lambda: self._alarm(callback))
        self._life.on_death.append(end)
        return end

    def _alarm(self, callback: Callable[[], None]) -> None:
        """Alarms are heard by those who are awake and connected; they may be missed by others."""
        if not (self._life.is_dead or self._life.is_frozen or self._life.weathers["store"].cut_off):
            callback()


class ReachedObjects:
    is_remote = False

    def __init__(self, inner: MemoryObjects, life: Life, witness: Watching) -> None:
        self.url = inner.url
        self._inner = inner
        self._life = life
        self._witness = witness

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        content = b"".join(parts)  # what was sent cannot change under way
        await self._life.call("objects", "put", lambda: self._inner.put(key, [content]), key)

    async def get(self, key: str) -> Buffer:
        return await self._life.call("objects", "get", lambda: self._inner.get(key), key)

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        return await self._life.call("objects", "get", lambda: self._inner.get_range(key, at, length), key)

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        return await self._life.call("objects", "get", lambda: self._inner.get_tail(key, length), key)

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        return await self._life.call("objects", "get", lambda: self._inner.sizes(keys), ",".join(keys))

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        async def all_at_once() -> Sequence[ObjectInfo]:
            return [info async for info in self._inner.list(prefix)]

        for info in await self._life.call("objects", "list", all_at_once, prefix):
            yield info

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        async def delete() -> None:
            await self._witness.deleting(keys)
            await self._inner.delete(keys, unused_folders=unused_folders)

        await self._life.call("objects", "delete", delete, ",".join(keys))

    async def close(self) -> None:
        pass


_TELLING = ("segment", "incarnation", "job", "token")


def _about(args: tuple[Any, ...]) -> str:
    """What a call is about, in words that are the same in every run: no addresses."""
    return " ".join(_word(arg) for arg in args)


def _word(arg: Any) -> str:
    if isinstance(arg, str | int):
        return str(arg)
    if isinstance(arg, bytes):
        return arg.hex()[:8]
    if isinstance(arg, list | tuple):
        return f"[{len(arg)}]"
    return str(next((getattr(arg, name) for name in _TELLING if hasattr(arg, name)), type(arg).__name__))

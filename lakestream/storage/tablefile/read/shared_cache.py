"""An LRU cache bounded in bytes. Concurrent callers for one key share one computation.

A value larger than the bound is computed and returned, but not kept.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from lakestream.world.tasks import Tasks

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SharedCache(Generic[K, V]):
    def __init__(self, bytes_max: int, size: Callable[[V], int], tasks: Tasks) -> None:
        self._bytes_max = bytes_max
        self._size = size
        self._tasks = tasks
        self._held: OrderedDict[K, V] = OrderedDict()
        self._bytes = 0
        self._making: dict[K, asyncio.Task[V]] = {}
        self._ahead: dict[K, int] = {}
        """Keys computed, or started, before anyone asked for them, with their approximate size in bytes."""

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """The cached value, or the result of `make`. Concurrent callers share one call, which goes on if one of them
        cancels."""
        self._ahead.pop(key, None)
        if (held := self._held.get(key)) is not None:
            self._held.move_to_end(key)
            return held
        return await asyncio.shield(self._making.get(key) or self._begin(key, make))

    def make_ahead(self, key: K, make: Callable[[], Awaitable[V]], bytes_about: int) -> bool:
        """Start computing the value before anyone asks. False if too many unrequested values are held already.

        Their bound is half of the cache, so that none is evicted before its use. A failure is raised to the callers of
        `get`; without any, it is dropped.
        """
        if key in self._held or key in self._making:
            return True
        if sum(self._ahead.values()) + bytes_about > self._bytes_max // 2:
            return False
        self._ahead[key] = bytes_about
        self._begin(key, make)
        return True

    def drop(self, key: K) -> None:
        self._ahead.pop(key, None)
        if (held := self._held.pop(key, None)) is not None:
            self._bytes -= self._size(held)

    def _begin(self, key: K, make: Callable[[], Awaitable[V]]) -> "asyncio.Task[V]":
        making = self._tasks.spawn(self._make(key, make), name="table-file-read", awaited=True)
        self._making[key] = making
        making.add_done_callback(lambda _: self._making.pop(key, None))
        return making

    async def _make(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        try:
            made = await make()
        except BaseException:
            self._ahead.pop(key, None)
            raise
        self._hold(key, made)
        return made

    def _hold(self, key: K, value: V) -> None:
        self._held[key] = value
        self._bytes += self._size(value)
        while self._bytes > self._bytes_max:
            self.drop(next(iter(self._held)))

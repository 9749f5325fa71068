"""A cache of immutable values, bounded in bytes: the least recently used go first."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class RecentlyUsed(Generic[T]):
    def __init__(self, *, bytes_max: int, weigh: Callable[[T], int]) -> None:
        """`weigh` returns how many bytes a value counts for."""
        self._bytes_max = bytes_max
        self._weigh = weigh
        self._things: OrderedDict[str, T] = OrderedDict()
        self._bytes = 0

    def get(self, name: str) -> T | None:
        if (found := self._things.get(name)) is not None:
            self._things.move_to_end(name)
        return found

    def keep(self, name: str, thing: T) -> None:
        if name in self._things:
            return
        self._things[name] = thing
        self._bytes += self._weigh(thing)
        while self._bytes > self._bytes_max and len(self._things) > 1:
            _, oldest = self._things.popitem(last=False)
            self._bytes -= self._weigh(oldest)

    def drop(self, name: str) -> None:
        if (found := self._things.pop(name, None)) is not None:
            self._bytes -= self._weigh(found)

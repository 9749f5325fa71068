"""What was made of values that are never changed, remembered by the values themselves.

    commit n:    snapshots [a b c]    ->  texts A B C
    commit n+1:  snapshots [b c d]    ->  only D is made, B and C are those of commit n

A commit builds on the one before it and shares all but a few of its values, the same objects. So an old table's commit
makes as much as a young one's. What is looked up for the many that stay is looked up by C code, and what is no longer
asked for is forgotten once it is the greater part: an old table has hundreds of values, and a commit waits for this.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from lakestream.catalog.memory.kept import Kept

T = TypeVar("T", str, bytes)

_VALUE_BYTES = 150
"""What remembering takes beside what was made."""
_UNASKED_SHARE_MAX = 2
"""At most so many times the values that were asked for last are held."""


class _Held(Generic[T]):
    """By the addresses of the values. A value that is held keeps its address, so no other can be taken for it."""

    __slots__ = ("bytes", "made", "values")

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}
        self.made: dict[int, T] = {}
        self.bytes = 0

    def add(self, at: int, value: Any, made: T) -> None:
        self.values[at] = value
        self.made[at] = made
        self.bytes += _VALUE_BYTES + len(made)


class Remembered(Generic[T]):
    """Of each owner, what it had when it last asked."""

    def __init__(self, *, bytes_max: int) -> None:
        self._kept: Kept[_Held[T]] = Kept(bytes_max=bytes_max, weigh=lambda held: held.bytes)

    def all(self, owner: str, values: Sequence[Any], make: Callable[[Any], T]) -> list[T]:
        """What `make` gives for each of the values; it must always give the same for the same value and owner."""
        held: _Held[T] = self._kept.get(owner) or _Held()
        self._kept.drop(owner)  # it is weighed again below
        addresses = list(map(id, values))
        for at, value in zip(addresses, values, strict=True):
            if at not in held.made:
                held.add(at, value, make(value))
        made = list(map(held.made.__getitem__, addresses))
        if len(held.made) > _UNASKED_SHARE_MAX * len(values):
            held = _only(held, addresses)
        self._kept.keep(owner, held)
        return made


def _only(held: _Held[T], addresses: Sequence[int]) -> _Held[T]:
    staying: _Held[T] = _Held()
    for at in dict.fromkeys(addresses):
        staying.add(at, held.values[at], held.made[at])
    return staying

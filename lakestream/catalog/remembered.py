"""What was made of values that are never changed, remembered by the values themselves.

    commit n:    snapshots [a b c]    ->  texts A B C
    commit n+1:  snapshots [b c d]    ->  only D is made, B and C are those of commit n

A commit builds on the one before it and shares all but a few of its values, the same objects. So an old table's commit
makes as much as a young one's.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from lakestream.catalog.kept import Kept

T = TypeVar("T", str, bytes)

_VALUE_BYTES = 150
"""What remembering takes beside what was made."""


class _Made(NamedTuple):
    by_id: dict[int, tuple[Any, Any]]
    bytes: int


class Remembered(Generic[T]):
    """Of each owner, what it had when it last asked."""

    def __init__(self, *, bytes_max: int) -> None:
        self._kept: Kept[_Made] = Kept(bytes_max=bytes_max, weigh=lambda made: made.bytes)

    def all(self, owner: str, values: Sequence[Any], make: Callable[[Any], T]) -> list[T]:
        """What `make` gives for each of the values; it must always give the same for the same value and owner."""
        kept = self._kept.get(owner)
        before = kept.by_id if kept else {}
        # An object that is held here keeps its address, so no other value can be taken for it.
        now = {id(value): before.get(id(value)) or (value, make(value)) for value in values}
        made: list[T] = [now[id(value)][1] for value in values]
        self._kept.drop(owner)
        self._kept.keep(owner, _Made(now, _VALUE_BYTES * len(now) + sum(map(len, made))))
        return made

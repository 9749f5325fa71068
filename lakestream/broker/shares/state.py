"""What a share group has made of a partition: a window of portions between two offsets, as frozen values.

    ...done...| start | done | acquired | available | ... | end |...never delivered...

Portions lie side by side and cover the window. Below `start` everything is done; from `end` on nothing was ever
delivered. A lock is nothing but its deadline: whoever looks at the window later than that takes its records for
available, so no timer has to run, and no write is needed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

NOBODY = ""


class RecordState(IntEnum):
    """Stored, so numbers are never reused."""

    AVAILABLE = 0
    ACQUIRED = 1
    DONE = 2
    """Accepted, rejected, given up after too many deliveries, or no record at all."""


class Portion(NamedTuple):
    """Records that share one fate."""

    first: int
    last: int
    state: RecordState
    deliveries: int = 0
    member: str = NOBODY
    """Who holds the lock."""
    until_ms: int = 0
    """When the lock ends, by the store's clock."""

    def is_locked_by(self, member: str, now_ms: int) -> bool:
        return self.state is RecordState.ACQUIRED and self.member == member and self.until_ms > now_ms

    def done(self) -> "Portion":
        return Portion(self.first, self.last, RecordState.DONE)

    def available(self, deliveries: int) -> "Portion":
        return Portion(self.first, self.last, RecordState.AVAILABLE, deliveries)

    def given_back(self, deliveries_max: int) -> "Portion":
        """Available again, unless it was delivered often enough."""
        return self.done() if self.deliveries >= deliveries_max else self.available(self.deliveries)

    def cut(self, first: int, last: int) -> "Portion":
        return self._replace(first=max(self.first, first), last=min(self.last, last))


Change = Callable[[Portion], Portion]


@dataclass(frozen=True, slots=True)
class ShareState:
    start: int
    end: int
    portions: tuple[Portion, ...] = ()

    @property
    def done(self) -> int:
        """How many offsets of the window are done."""
        return sum(one.last - one.first + 1 for one in self.portions if one.state is RecordState.DONE)

    @property
    def size(self) -> int:
        return self.end - self.start

    def within(self, first: int, last: int) -> list[Portion]:
        """The portions between two offsets, cut to them."""
        return [one.cut(first, last) for one in self.portions if one.first <= last and one.last >= first]

    def changed(self, first: int, last: int, change: Change) -> "ShareState":
        """`change` is applied to whatever lies between two offsets."""
        return _settled(self.start, self.end, _changed(self.portions, first, last, change))

    def extended(self, portion: Portion) -> "ShareState":
        """The window with one more portion at its end."""
        assert portion.first == self.end and portion.last >= portion.first, "portions lie side by side"
        return _settled(self.start, portion.last + 1, (*self.portions, portion))

    def from_offset(self, start: int) -> "ShareState":
        """The window without what lies below an offset: those records do not exist any more."""
        if start <= self.start:
            return self
        kept = [one.cut(start, one.last) for one in self.portions if one.last >= start]
        return _settled(start, max(start, self.end), kept)

    def unlocked(self, now_ms: int, deliveries_max: int) -> "ShareState":
        """The window as it is once the locks that have run out are gone."""
        if not any(_has_run_out(one, now_ms) for one in self.portions):
            return self
        freed = [one.given_back(deliveries_max) if _has_run_out(one, now_ms) else one for one in self.portions]
        return _settled(self.start, self.end, freed)

    def next_deadline(self) -> int | None:
        """When the next lock runs out."""
        return min((one.until_ms for one in self.portions if one.state is RecordState.ACQUIRED), default=None)


def _has_run_out(portion: Portion, now_ms: int) -> bool:
    return portion.state is RecordState.ACQUIRED and portion.until_ms <= now_ms


def _changed(portions: Iterable[Portion], first: int, last: int, change: Change) -> Iterable[Portion]:
    for one in portions:
        if one.last < first or one.first > last:
            yield one
            continue
        if one.first < first:
            yield one._replace(last=first - 1)
        yield change(one.cut(first, last))
        if one.last > last:
            yield one._replace(first=last + 1)


def _settled(start: int, end: int, portions: Iterable[Portion]) -> ShareState:
    """Join neighbours of one fate, and move the start past what is done."""
    joined: list[Portion] = []
    for one in portions:
        if joined and joined[-1][2:] == one[2:]:
            joined[-1] = joined[-1]._replace(last=one.last)
        elif not joined and one.state is RecordState.DONE:
            start = one.last + 1
        else:
            joined.append(one)
    return ShareState(start, end, tuple(joined))

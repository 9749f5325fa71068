"""The account: what every transaction wrote, what became of it, and whether readers and tables agree.

written -> acked at an offset -> asked to commit | given up -> committed | perhaps

A record is seen only after its producer asked to commit. In the end a transaction is seen whole or not at all: whole if
the producer was told so, by every reader, in every table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lakestream.model.topic import PartitionId
from tests.simulation.verdict import Verdict


class Place(NamedTuple):
    partition: PartitionId
    offset: int


@dataclass(slots=True, kw_only=True)
class Written:
    """A transaction of some producer: the `number`th of its transactional id."""

    id: str
    number: int
    may_be_seen: bool = False
    """Its producer asked to commit it."""
    is_committed: bool = False
    """Its producer was told that it is."""
    has_offsets: bool = False
    places: dict[bytes, Place] = field(default_factory=dict)
    """Of the acknowledged records, by value."""

    def __str__(self) -> str:
        return f"{self.id}#{self.number}"


class Account:
    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._all: list[Written] = []
        self._written: dict[bytes, Written] = {}
        self._at: dict[Place, bytes] = {}

    def begun(self, id: str) -> Written:
        written = Written(id=id, number=len(self._all))
        self._all.append(written)
        return written

    def made(self, written: Written, values: Iterable[bytes]) -> None:
        self._written |= dict.fromkeys(values, written)

    def acked(self, written: Written, partition: PartitionId, base_offset: int, values: Iterable[bytes]) -> None:
        for at, value in enumerate(values):
            place = Place(partition, base_offset + at)
            written.places[value] = place
            self._lies(place, value)

    def seen(self, by: str, place: Place, value: bytes) -> None:
        """A reader of committed records, or of a table, was given this record."""
        written = self._written.get(value)
        if written is None:
            self._verdict.breaks("only what was produced is read", by, place, value)
            return
        self._verdict.holds(written.may_be_seen, "what no producer committed is not seen", by, written, place, value)
        self._lies(place, value)

    def whole(self, by: str, seen: Mapping[Place, bytes], starts: Mapping[PartitionId, int]) -> None:
        """All that is there, as one sees it once nothing is open any more. `starts`: what lies below was deleted."""
        values = set(seen.values())
        self._verdict.holds(len(values) == len(seen), "no record is seen twice", by, len(seen) - len(values))
        for written in self._all:
            lasting = {value for value, place in written.places.items() if place.offset >= starts[place.partition]}
            missing = lasting - values
            if written.is_committed:
                self._verdict.holds(not missing, "a committed record is seen", by, str(written), sorted(missing)[:3])
            else:
                torn = bool(missing) and bool(lasting & values)
                self._verdict.holds(not torn, "a transaction is seen whole or not at all", by, str(written))

    def torn(self, by: str, values: Iterable[bytes], among: Mapping[PartitionId, int]) -> None:
        """One look at tables: of each transaction, all records of these partitions are in it or none. `among`: the
        partitions, and where each begins."""
        seen = set(values)
        for written in {id(each): each for each in map(self._written.get, seen) if each is not None}.values():
            lasting = {
                value for value, place in written.places.items() if place.offset >= among.get(place.partition, 1 << 62)
            }
            missing = lasting - seen
            self._verdict.holds(not missing, "tables show a transaction whole", by, str(written), sorted(missing)[:3])

    def last_offset_of(self, id: str, seen: Iterable[bytes]) -> tuple[int, int]:
        """The bounds of the group's offset: of the last transaction known to have committed one, and of the last that
        perhaps did."""
        values = set(seen)
        own = [each for each in self._all if each.id == id and each.has_offsets]
        sure = [each.number for each in own if each.is_committed or values & each.places.keys()]
        perhaps = [each.number for each in own if each.may_be_seen]
        return max(sure, default=-1), max(perhaps, default=-1)

    def _lies(self, place: Place, value: bytes) -> None:
        there = self._at.setdefault(place, value)
        self._verdict.holds(there == value, "an offset has one record", place, there, value)

"""The ledger: what was produced, what was acknowledged, what was read, and whether they agree.

made -> acked at an offset -> seen there, always the same bytes -> all of it once more at the end
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.topic import PartitionId
from lakestream.storage.records.header import crc_of

from .batches import Served, identity
from .verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A batch that some producer made: the `number`th of its stream."""

    stream: str
    number: int
    topic: str
    index: int
    timestamps: tuple[int, ...]
    is_idempotent: bool

    def __str__(self) -> str:
        return f"{self.stream}#{self.number}"


class Ack(NamedTuple):
    made: Made
    append_ms: int


class Read(NamedTuple):
    """A batch as the final read found it."""

    base_offset: int
    made: Made
    timestamps: Sequence[int]


Place = tuple[PartitionId, int]


class Ledger:
    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._made: dict[bytes, Made] = {}
        self._at: dict[Place, Made] = {}
        self._acks: dict[Place, Ack] = {}
        self._placed: dict[tuple[PartitionId, str, int], int] = {}
        self._refused: set[tuple[str, int]] = set()

    def made(self, batch: bytes, made: Made) -> None:
        self._made[identity(batch)] = made

    def refused(self, made: Made) -> None:
        """Every attempt to store it was refused for good: it must never appear."""
        self._refused.add((made.stream, made.number))

    def acked(
        self, partition: PartitionId, base_offset: int, append_ms: int, made: Made, next_offset: int | None
    ) -> None:
        """A producer was told that its batch is at this offset, while the log ended at `next_offset`."""
        self._lies_at(partition, base_offset, made)
        self._acks[partition, base_offset] = Ack(made, append_ms)
        durable = next_offset is None or base_offset + len(made.timestamps) <= next_offset
        self._verdict.holds(
            durable, "acked means committed", made, "at", base_offset, "but the log ends at", next_offset
        )

    def seen(self, partition: PartitionId, topic: str, index: int, batch: Served) -> Made | None:
        """A consumer was given this batch."""
        base_offset = batch.header.base_offset
        made = self._made.get(identity(batch.data))
        if made is None:
            self._verdict.breaks("only what was produced is read", partition, base_offset, batch.header)
            return None
        self._verdict.holds(crc_of(batch.data) == batch.header.crc, "a served batch has its checksum", made)
        at_home = (made.topic, made.index) == (topic, index)
        self._verdict.holds(at_home, "a batch is read where it was sent", made, "in", topic, index)
        self._verdict.holds((made.stream, made.number) not in self._refused, "a refused batch is absent", made)
        self._lies_at(partition, base_offset, made)
        ack = self._acks.get((partition, base_offset))
        if ack is not None and ack.append_ms >= 0:
            shown = batch.header.is_log_append_time and batch.header.max_timestamp_ms == ack.append_ms
            self._verdict.holds(shown, "log-append time is what was acked", made, batch.header, ack)
        return made

    def whole(self, partition: PartitionId, log_start: int, next_offset: int, reads: Sequence[Read]) -> None:
        """The final read of a partition, from its start to its end."""
        found = {read.base_offset: read.made for read in reads}
        for (acked_in, base_offset), ack in self._acks.items():
            last_offset = base_offset + len(ack.made.timestamps) - 1
            if acked_in == partition and last_offset >= log_start:
                there = found.get(base_offset) is ack.made and last_offset < next_offset
                self._verdict.holds(there, "acked means readable", ack.made, "at", base_offset, found.get(base_offset))
        self._check_order(partition, reads)

    def _check_order(self, partition: PartitionId, reads: Sequence[Read]) -> None:
        last: dict[str, int] = {}
        for read in reads:
            if read.made.is_idempotent:
                in_order = last.get(read.made.stream, -1) < read.made.number
                self._verdict.holds(in_order, "an idempotent producer's records are in order", partition, read.made)
                last[read.made.stream] = read.made.number

    def _lies_at(self, partition: PartitionId, base_offset: int, made: Made) -> None:
        known = self._at.setdefault((partition, base_offset), made)
        self._verdict.holds(known is made, "no two records at one offset", partition, base_offset, known, made)
        if made.is_idempotent:
            first = self._placed.setdefault((partition, made.stream, made.number), base_offset)
            self._verdict.holds(first == base_offset, "stored once", partition, made, "at", first, "and", base_offset)

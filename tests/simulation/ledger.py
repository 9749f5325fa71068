"""The ledger: what was produced, what was acknowledged, what was read, and whether they agree.

made -> acked at an offset -> seen there, always the same bytes -> all of it once more at the end
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.topic import PartitionId
from lakestream.storage.records.header import crc_of

from .batches import Row, Sent, Served, identity, rows_of
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
    """A record as a consumer was given it: the `position`th of the batch that its producer made."""

    offset: int
    timestamp: int
    made: Made
    position: int


class Known(NamedTuple):
    """A record that some producer made."""

    made: Made
    position: int
    sent: Sent


Place = tuple[PartitionId, int]


class Ledger:
    def __init__(self, verdict: Verdict, *, log_append: Set[str] = frozenset()) -> None:
        """`log_append`: topics in which the broker's time counts."""
        self._verdict = verdict
        self._log_append = log_append
        self._records: dict[bytes, Known] = {}
        self._made: dict[bytes, Made] = {}
        self._at: dict[Place, Made] = {}
        self._acks: dict[Place, Ack] = {}
        self._placed: dict[tuple[PartitionId, str, int], int] = {}
        self._refused: set[tuple[str, int]] = set()
        self._deleted: Mapping[PartitionId, int] = {}

    def know_deletions(self, asked: Mapping[PartitionId, int]) -> None:
        """`asked`: by partition, the offset below which someone asked to delete, whenever one looks."""
        self._deleted = asked

    def made(self, batch: bytes, made: Made, records: Sequence[Sent]) -> None:
        self._made[identity(batch)] = made
        self._records |= {record.value: Known(made, at, record) for at, record in enumerate(records)}

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

    def seen(self, partition: PartitionId, topic: str, index: int, batch: Served) -> list[Read]:
        """A consumer was given this batch: as it was sent, or made anew from rows of the topic's table."""
        self._verdict.holds(crc_of(batch.data) == batch.header.crc, "a served batch has its checksum", batch.header)
        made = self._made.get(identity(batch.data))
        if made is not None:
            return self._seen_as_sent(partition, topic, index, batch, made)
        rows = rows_of(batch)
        absent = {*range(batch.header.base_offset, batch.last_offset + 1)} - {row.offset for row in rows}
        gone = all(offset < self._deleted.get(partition, 0) for offset in absent)
        self._verdict.holds(gone, "a log without markers lacks only deleted records", partition, batch.header)
        return self.seen_rows(partition, topic, index, rows)

    def seen_rows(self, partition: PartitionId, topic: str, index: int, rows: Sequence[Row]) -> list[Read]:
        """Records that were read one by one: each as it was made, at the place that its batch was given."""
        return [read for row in rows if (read := self._seen_row(partition, topic, index, row)) is not None]

    def _seen_row(self, partition: PartitionId, topic: str, index: int, row: Row) -> Read | None:
        known = self._records.get(row.sent.value)
        if known is None:
            self._verdict.breaks("only what was produced is read", partition, row)
            return None
        self._verdict.holds(known.sent == row.sent, "a record comes back as it was", partition, row, known)
        base_offset = row.offset - known.position
        self._check_place(partition, topic, index, base_offset, known.made)
        expected = self._time_of(partition, topic, base_offset, known)
        on_time = expected is None or expected == row.timestamp
        self._verdict.holds(on_time, "a record comes back with its time", partition, row, expected)
        return Read(row.offset, row.timestamp, known.made, known.position)

    def _seen_as_sent(self, partition: PartitionId, topic: str, index: int, batch: Served, made: Made) -> list[Read]:
        base_offset, header = batch.header.base_offset, batch.header
        self._check_place(partition, topic, index, base_offset, made)
        ack = self._acks.get((partition, base_offset))
        if ack is not None and ack.append_ms >= 0:
            shown = header.is_log_append_time and header.max_timestamp_ms == ack.append_ms
            self._verdict.holds(shown, "log-append time is what was acked", made, header, ack)
        times = [header.max_timestamp_ms] * len(made.timestamps) if header.is_log_append_time else made.timestamps
        return [Read(base_offset + at, time, made, at) for at, time in enumerate(times)]

    def _check_place(self, partition: PartitionId, topic: str, index: int, base_offset: int, made: Made) -> None:
        at_home = (made.topic, made.index) == (topic, index)
        self._verdict.holds(at_home, "a batch is read where it was sent", made, "in", topic, index)
        self._verdict.holds((made.stream, made.number) not in self._refused, "a refused batch is absent", made)
        self._lies_at(partition, base_offset, made)

    def _time_of(self, partition: PartitionId, topic: str, base_offset: int, known: Known) -> int | None:
        """None: the broker gave it, and its answer was lost."""
        if topic not in self._log_append:
            return known.made.timestamps[known.position]
        ack = self._acks.get((partition, base_offset))
        return None if ack is None else ack.append_ms

    def whole(self, partition: PartitionId, log_start: int, next_offset: int, reads: Sequence[Read]) -> None:
        """The final read of a partition, from its start to its end."""
        found = {read.offset: read for read in reads}
        for (acked_in, base_offset), ack in self._acks.items():
            if acked_in == partition:
                for position in range(max(0, log_start - base_offset), len(ack.made.timestamps)):
                    read = found.get(base_offset + position)
                    there = read is not None and read.made is ack.made and read.position == position
                    self._verdict.holds(there, "acked means readable", ack.made, "at", base_offset, read)
                    self._verdict.holds(base_offset + position < next_offset, "acked lies below the end", ack.made)
        self._check_order(partition, reads)

    def _check_order(self, partition: PartitionId, reads: Sequence[Read]) -> None:
        last: dict[str, tuple[int, int]] = {}
        for read in reads:
            if read.made.is_idempotent:
                here = (read.made.number, read.position)
                in_order = last.get(read.made.stream, (-1, -1)) < here
                self._verdict.holds(in_order, "an idempotent producer's records are in order", partition, read.made)
                last[read.made.stream] = here

    def _lies_at(self, partition: PartitionId, base_offset: int, made: Made) -> None:
        known = self._at.setdefault((partition, base_offset), made)
        self._verdict.holds(known is made, "no two records at one offset", partition, base_offset, known, made)
        if made.is_idempotent:
            first = self._placed.setdefault((partition, made.stream, made.number), base_offset)
            self._verdict.holds(first == base_offset, "stored once", partition, made, "at", first, "and", base_offset)

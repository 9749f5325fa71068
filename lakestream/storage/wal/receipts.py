"""Pending receipts: offsets that earlier segments were given, waiting to be written into the next segment's footer."""

from collections.abc import Mapping, Sequence

from lakestream.model.place import Span
from lakestream.model.topic import PartitionId
from lakestream.storage.wal.buffer import Sealed
from lakestream.storage.wal.segment import Receipt


class Receipts:
    def __init__(self) -> None:
        self._waiting: list[Receipt] = []
        self._oldest: float | None = None

    def oldest(self) -> float | None:
        """Since when the first of them has been waiting."""
        return self._oldest

    def add(self, sealed: Sealed, spans: Mapping[PartitionId, Sequence[Span]], now: float) -> None:
        """Note the offsets that a committed segment was given."""
        homes = {item.batch.partition: (item.batch.topic_id, item.batch.partition_index) for item in sealed.pending}
        for partition, run in spans.items():
            topic_id, index = homes[partition]
            self._waiting.extend(_receipt(topic_id, index, span) for span in run)
        self._since(now)

    def take(self) -> list[Receipt]:
        taken, self._waiting, self._oldest = self._waiting, [], None
        return taken

    def give_back(self, receipts: Sequence[Receipt], now: float) -> None:
        """Take back receipts from a segment that failed."""
        self._waiting = [*receipts, *self._waiting]
        self._since(now)

    def _since(self, now: float) -> None:
        if self._waiting and self._oldest is None:
            self._oldest = now


def _receipt(topic_id: bytes, index: int, span: Span) -> Receipt:
    records = span.last_offset - span.base_offset + 1
    return Receipt(span.segment, topic_id, index, span.at, span.length, span.base_offset, records, span.append_ms)

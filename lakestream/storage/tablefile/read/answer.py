"""TakenBatches: the batches taken for one read, and the room that is left."""

from collections.abc import Sequence

from lakestream.storage.records.encode import EncodedBatch
from lakestream.storage.records.header import Bytes
from lakestream.storage.records.run import Run


class TakenBatches:
    def __init__(self, offset: int, bytes_max: int, *, at_least_one: bool) -> None:
        self.next_offset = offset
        self._parts: list[Bytes] = []
        self._bytes = 0
        self._bytes_max = bytes_max
        self._at_least_one = at_least_one

    @property
    def is_empty(self) -> bool:
        return not self._parts

    @property
    def room(self) -> int:
        return self._bytes_max - self._bytes

    def run(self) -> Run:
        return Run(self._parts, self._bytes, self.next_offset)

    def take(self, batches: Sequence[EncodedBatch]) -> int:
        """Take the batches from `next_offset` on, in order, as far as they fit. Returns how many bytes of them were
        left."""
        ahead = [batch for batch in batches if batch.last_offset >= self.next_offset]
        for taken, batch in enumerate(ahead):
            if not self.add(batch):
                return bytes_of(ahead[taken:])
        return 0

    def add(self, batch: EncodedBatch) -> bool:
        """Add the batch if it fits, and return whether it did. With `at_least_one`, the first one always fits."""
        if len(batch.data) > self.room and (self._parts or not self._at_least_one):
            return False
        self._parts.append(batch.data)
        self._bytes += len(batch.data)
        self.next_offset = batch.last_offset + 1
        return True


def bytes_of(batches: Sequence[EncodedBatch]) -> int:
    return sum(len(batch.data) for batch in batches)

"""Which batches belong to aborted transactions: a lookup by producer and offset."""

from bisect import bisect_right
from collections.abc import Iterable

from lakestream.model.transaction import AbortedRange


class AbortedBatches:
    """The aborted transactions of one partition. Those of one producer follow each other and never overlap."""

    def __init__(self, ranges: Iterable[AbortedRange] = ()) -> None:
        self._of_producer: dict[int, tuple[list[int], list[int]]] = {}
        for producer_id, first_offset, last_offset in sorted(ranges):
            firsts, lasts = self._of_producer.setdefault(producer_id, ([], []))
            firsts.append(first_offset)
            lasts.append(last_offset)

    def hold(self, producer_id: int, base_offset: int) -> bool:
        """Whether a transactional batch of this producer that begins here was aborted."""
        found = self._of_producer.get(producer_id)
        if found is None:
            return False
        firsts, lasts = found
        at = bisect_right(firsts, base_offset) - 1
        return at >= 0 and base_offset < lasts[at]


NOTHING_ABORTED = AbortedBatches()

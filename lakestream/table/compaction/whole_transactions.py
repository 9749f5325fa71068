"""Cuts the WAL where no transaction lies on both sides, so that tables show each of them at once. Pure.

    prefixes of partitions, below the last stable offset  +  committed transactions  ->  shorter prefixes

A transaction that ends beyond the cut of any of its partitions is taken by none of them. Taking it back may split
another one, so this goes on until nothing changes. Aborted transactions have no rows, and may be cut anywhere.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lakestream.model.job import UntabledSpan
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import EndedTransaction

Prefixes = Mapping[PartitionId, Sequence[UntabledSpan]]


class CommittedTransaction(NamedTuple):
    """A committed transaction with all of its parts that are not in tables yet."""

    parts: tuple[EndedTransaction, ...]


def committed_transactions(ended: Iterable[EndedTransaction]) -> list[CommittedTransaction]:
    by_name: dict[tuple[int, int], list[EndedTransaction]] = {}
    for part in ended:
        if part.committed:
            by_name.setdefault((part.producer_id, part.number), []).append(part)
    return [CommittedTransaction(tuple(parts)) for parts in by_name.values()]


def stable_spans(spans: Iterable[UntabledSpan], last_stable: int) -> list[UntabledSpan]:
    """The spans that lie wholly below the first open transaction."""
    return [each for each in spans if each.span.last_offset < last_stable]


def without_split_transactions(
    prefixes: Prefixes,
    transactions: Sequence[CommittedTransaction],
    left_out: Iterable[CommittedTransaction] = (),
) -> Prefixes:
    """The longest prefixes of these that split no transaction, and that have nothing of those that are left out."""
    return _Cutting(prefixes, transactions).cut(left_out)


class _Cutting:
    def __init__(self, prefixes: Prefixes, transactions: Sequence[CommittedTransaction]) -> None:
        self._prefixes = prefixes
        self._transactions = transactions
        self._lasts = {id: [each.span.last_offset for each in spans] for id, spans in prefixes.items()}
        self._kept = {id: len(spans) for id, spans in prefixes.items()}
        self._ends_in: dict[PartitionId, list[tuple[int, int]]] = {}
        """By partition: the markers that were not looked at yet, the last one last, and their transactions."""
        for which, transaction in enumerate(transactions):
            for part in transaction.parts:
                self._ends_in.setdefault(part.partition, []).append((part.last_offset, which))
        for markers in self._ends_in.values():
            markers.sort()

    def cut(self, left_out: Iterable[CommittedTransaction]) -> Prefixes:
        changed = set(self._ends_in)
        for transaction in left_out:
            self._take_back(transaction)
        while changed:
            partition = min(changed)
            changed.discard(partition)
            markers = self._ends_in[partition]
            while markers and markers[-1][0] >= self._end(partition):
                changed |= self._take_back(self._transactions[markers.pop()[1]])
        return {id: spans[: self._kept[id]] for id, spans in self._prefixes.items()}

    def _take_back(self, transaction: CommittedTransaction) -> set[PartitionId]:
        """Returns the partitions that are cut earlier now."""
        changed = set()
        for part in transaction.parts:
            kept = bisect_left(self._lasts.get(part.partition, ()), part.first_offset)
            if kept < self._kept.get(part.partition, 0):
                self._kept[part.partition] = kept
                changed.add(part.partition)
        return changed

    def _end(self, partition: PartitionId) -> int:
        kept = self._kept.get(partition, 0)
        return self._lasts[partition][kept - 1] + 1 if kept else 0

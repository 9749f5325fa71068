"""Cuts the WAL where no transaction lies on both sides, so that a table shows each of them in one snapshot. Pure.

    prefixes of partitions, below the last stable offset  +  ended transactions  ->  shorter prefixes

A transaction that ends beyond the cut of any of its partitions is taken by none of them. Taking it back may split
another one, so this goes on until nothing changes.
"""

from collections.abc import Iterable, Mapping, Sequence

from lakestream.model.job import UntabledSpan
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import EndedTransaction

Prefixes = Mapping[PartitionId, Sequence[UntabledSpan]]


def stable_spans(spans: Iterable[UntabledSpan], last_stable: int) -> list[UntabledSpan]:
    """The spans that lie wholly below the first open transaction."""
    return [each for each in spans if each.span.last_offset < last_stable]


def without_split_transactions(prefixes: Prefixes, ended: Iterable[EndedTransaction]) -> Prefixes:
    """The longest prefixes of these that split no transaction."""
    cuts = dict(prefixes)
    transactions: dict[tuple[int, int], list[EndedTransaction]] = {}
    for part in sorted(ended, key=lambda part: part.last_offset, reverse=True):
        transactions.setdefault((part.producer_id, part.number), []).append(part)
    while sum(_take_back(parts, cuts) for parts in transactions.values()):
        pass  # taking one back may have split another
    return cuts


def _take_back(parts: Sequence[EndedTransaction], cuts: dict[PartitionId, Sequence[UntabledSpan]]) -> bool:
    """Whether the transaction was split. Then all of it is beyond the cuts now."""
    if all(part.last_offset < _end(cuts.get(part.partition, ())) for part in parts):
        return False
    split = False
    for part in parts:
        prefix = cuts.get(part.partition, ())
        if part.first_offset < _end(prefix):
            kept = [each for each in prefix if each.span.last_offset < part.first_offset]
            split = split or len(kept) < len(prefix)
            cuts[part.partition] = kept
    return split


def _end(prefix: Sequence[UntabledSpan]) -> int:
    return prefix[-1].span.last_offset + 1 if prefix else 0

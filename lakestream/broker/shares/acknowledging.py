"""Acknowledge: what a member says of the records that it holds. All of its words about a partition count, or none.

Offsets below the window are done already, so an acknowledgement of them changes nothing, as in Kafka.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from lakestream.broker.shares.asks import AcknowledgedBatch, Acknowledgement
from lakestream.broker.shares.errors import InvalidRecordState
from lakestream.broker.shares.state import Portion, ShareState
from lakestream.model.errors import InvalidRequest


class Holder(NamedTuple):
    """Who acknowledges, and when."""

    member: str
    now_ms: int
    until_ms: int
    """The end of a lock that is renewed now."""
    deliveries_max: int


def check_acknowledged(batches: Sequence[AcknowledgedBatch], *, may_renew: bool) -> None:
    """Checks that need no state. Raises InvalidRequest."""
    allowed = frozenset(Acknowledgement) if may_renew else frozenset(Acknowledgement) - {Acknowledgement.RENEW}
    before = -1
    for first, last, types in batches:
        if not before < first <= last:
            raise InvalidRequest(f"offsets {first} to {last} are no range that follows {before}")
        if len(types) not in (1, last - first + 1):
            raise InvalidRequest(f"offsets {first} to {last} come with {len(types)} acknowledgements: give one, or all")
        if not allowed.issuperset(types):
            raise InvalidRequest(f"{sorted(set(types) - allowed)} are no types of acknowledgements here")
        before = last


def acknowledge(state: ShareState, batches: Sequence[AcknowledgedBatch], holder: Holder) -> ShareState:
    """Raises InvalidRecordState; nothing counts then."""
    change = _changes(holder)
    for batch in batches:
        for first, last, kind in _runs(batch):
            if last < state.start:
                continue
            first = max(first, state.start)
            if last >= state.end or not all(
                one.is_locked_by(holder.member, holder.now_ms) for one in state.within(first, last)
            ):
                raise InvalidRecordState(
                    f"member '{holder.member}' does not hold the locks of all offsets from {first} to {last}: they "
                    "have run out, or were acknowledged before"
                )
            state = state.changed(first, last, change[kind])
    return state


def given_back(state: ShareState, member: str) -> ShareState:
    """The window without the locks of a member that has left. What it held does not count as delivered."""

    def free(one: Portion) -> Portion:
        return one.available(max(one.deliveries - 1, 0)) if one.member == member else one

    return state.changed(state.start, state.end, free)


def _changes(holder: Holder) -> Mapping[Acknowledgement, Callable[[Portion], Portion]]:
    return {
        Acknowledgement.GAP: Portion.done,
        Acknowledgement.ACCEPT: Portion.done,
        Acknowledgement.REJECT: Portion.done,
        Acknowledgement.RELEASE: lambda one: one.given_back(holder.deliveries_max),
        Acknowledgement.RENEW: lambda one: one._replace(until_ms=holder.until_ms),
    }


def _runs(batch: AcknowledgedBatch) -> Iterator[tuple[int, int, Acknowledgement]]:
    """Portions of one type."""
    if len(batch.types) == 1:
        yield batch.first, batch.last, Acknowledgement(batch.types[0])
        return
    at = batch.first
    for kind, run in groupby(batch.types):
        count = sum(1 for _ in run)
        yield at, at + count - 1, Acknowledgement(kind)
        at += count

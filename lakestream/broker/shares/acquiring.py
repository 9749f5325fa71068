"""Acquire: lock records that were just read from the log for one member.

    the batches at the first offset that is free -> their records that nobody holds -> locked, counted as delivered

Offsets where the log has no record for readers (holes, markers, aborted transactions) are done at once.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lakestream.broker.shares.asks import Acquired
from lakestream.broker.shares.state import Portion, RecordState, ShareState


class ReadBatch(NamedTuple):
    """A batch of the log. `shown` is False if it has no records for this group."""

    first: int
    last: int
    shown: bool


class AcquireAsk(NamedTuple):
    member: str
    until_ms: int
    """The end of the locks."""
    records_max: int
    window_max: int
    """Offsets between the window's start and its end: this bounds the state."""
    whole_batches: bool


def next_offset(state: ShareState, window_max: int) -> int | None:
    """Where to read: the first offset that nobody holds. None if the window is full. Locks that have run out must be
    gone already."""
    for one in state.portions:
        if one.state is RecordState.AVAILABLE:
            return one.first
    return state.end if state.size < window_max else None


def acquire(
    state: ShareState, read_from: int, batches: Iterable[ReadBatch], ask: AcquireAsk
) -> tuple[ShareState, list[Acquired]]:
    """The window after it, and what was locked, in order. `read_from` is the offset that the batches were read from."""
    acquired: list[Acquired] = []
    left = ask.records_max
    cursor = max(read_from, state.start)
    for batch in batches:
        first = max(batch.first, cursor)
        if batch.last < first:
            continue
        state = _without_records(state, cursor, first - 1)
        if not batch.shown:
            state = _without_records(state, first, batch.last)
        else:
            last = min(batch.last, state.start + ask.window_max - 1)
            state, taken = _take(state, first, last, ask, left)
            acquired += taken
            left -= sum(one.last - one.first + 1 for one in taken)
            if left <= 0 or last < batch.last:
                break
        cursor = batch.last + 1
    return state, acquired


def _without_records(state: ShareState, first: int, last: int) -> ShareState:
    """There is nothing to deliver here. What members hold stays theirs until they say so."""

    def drop(one: Portion) -> Portion:
        return one.done() if one.state is RecordState.AVAILABLE else one

    if last < first:
        return state
    grown = state.extended(Portion(state.end, last, RecordState.DONE)) if last >= state.end else state
    return grown.changed(first, last, drop)


def _take(
    state: ShareState, first: int, last: int, ask: AcquireAsk, records_max: int
) -> tuple[ShareState, list[Acquired]]:
    """Lock what is free between two offsets."""
    if last >= state.end:
        state = state.extended(Portion(state.end, last, RecordState.AVAILABLE))
    taken: list[Acquired] = []
    left = last - first + 1 if ask.whole_batches else records_max
    for one in state.within(first, last):
        if one.state is not RecordState.AVAILABLE or left <= 0:
            continue
        until = min(one.last, one.first + left - 1)
        left -= until - one.first + 1
        taken.append(Acquired(one.first, until, one.deliveries + 1))
    for one_taken in taken:
        state = state.changed(one_taken.first, one_taken.last, lambda one: _locked(one, ask))
    return state, taken


def _locked(one: Portion, ask: AcquireAsk) -> Portion:
    return Portion(one.first, one.last, RecordState.ACQUIRED, one.deliveries + 1, ask.member, ask.until_ms)

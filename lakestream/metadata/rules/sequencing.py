"""The rule that stores an idempotent producer's batch once and in order.

    state, batch -> judge -> verdict          stored? -> remember -> new state

Per (partition, producer) the store keeps the epoch and the last five batches, as many as a client
may have in flight. `judge` only decides and `remember` only records, so the same rule serves the
SQLite store as code and the PostgreSQL function as its oracle.
"""

from typing import NamedTuple

from lakestream.model.segment import BatchStatus

RECENT_BATCHES_MAX = 5
"""Kafka's window: max.in.flight.requests.per.connection of an idempotent producer is at most 5."""

_SEQUENCES = 2**31
"""Sequences count 0 .. 2^31-1 and then start again at 0."""

NO_OFFSET = -1
NO_TIME = -1


class ProducerState(NamedTuple):
    """The state of a producer on one partition.

    `recent` has four numbers per batch (base sequence, last sequence, base offset, append_ms), oldest first, and at
    least one batch. It is flat, as stored: splitting it at every commit would cost more than the rule itself.
    """

    epoch: int
    recent: tuple[int, ...]


NUMBERS_PER_BATCH = 4
_NEWEST_LAST_SEQUENCE = -3
_OLDEST_BASE_SEQUENCE = 0


class Verdict(NamedTuple):
    """STORED: give the batch offsets. DUPLICATE: answer with these offsets. Anything else: refuse the batch."""

    status: BatchStatus
    base_offset: int
    append_ms: int


_STORE = Verdict(BatchStatus.STORED, NO_OFFSET, NO_TIME)
_REFUSALS = {status: Verdict(status, NO_OFFSET, NO_TIME) for status in BatchStatus}


def judge(state: ProducerState | None, epoch: int, base_sequence: int, records: int) -> Verdict:
    """Decide what to do with a batch of `records` records that begins at `base_sequence`."""
    if state is None:
        return _STORE if base_sequence == 0 else _REFUSALS[BatchStatus.UNKNOWN_PRODUCER]
    if epoch < state.epoch:
        return _REFUSALS[BatchStatus.STALE_EPOCH]
    if epoch > state.epoch:
        return _STORE if base_sequence == 0 else _REFUSALS[BatchStatus.OUT_OF_ORDER]
    return _judge_same_epoch(state.recent, base_sequence, last_sequence(base_sequence, records))


def remember(
    state: ProducerState | None, epoch: int, base_sequence: int, records: int, base_offset: int, append_ms: int
) -> ProducerState:
    """The state after a batch was stored. A new epoch forgets the batches of the old one."""
    stored = (base_sequence, last_sequence(base_sequence, records), base_offset, append_ms)
    if state is None or epoch != state.epoch:
        return ProducerState(epoch, stored)
    return ProducerState(epoch, (*state.recent, *stored)[-RECENT_BATCHES_MAX * NUMBERS_PER_BATCH :])


def last_sequence(base_sequence: int, records: int) -> int:
    return (base_sequence + records - 1) % _SEQUENCES


def _judge_same_epoch(recent: tuple[int, ...], base: int, last: int) -> Verdict:
    if base == (recent[_NEWEST_LAST_SEQUENCE] + 1) % _SEQUENCES:
        return _STORE
    for at in range(0, len(recent), NUMBERS_PER_BATCH):
        known_base, known_last, base_offset, append_ms = recent[at : at + NUMBERS_PER_BATCH]
        if (known_base, known_last) == (base, last):
            return Verdict(BatchStatus.DUPLICATE, base_offset, append_ms)
    window_is_full = len(recent) == RECENT_BATCHES_MAX * NUMBERS_PER_BATCH
    if window_is_full and _lies_before(last, recent[_OLDEST_BASE_SEQUENCE]):
        return _REFUSALS[BatchStatus.DUPLICATE_TOO_OLD]
    return _REFUSALS[BatchStatus.OUT_OF_ORDER]


def _lies_before(sequence: int, other: int) -> bool:
    """Sequences form a ring: 'before' means less than half the ring behind."""
    return 0 < (other - sequence) % _SEQUENCES < _SEQUENCES // 2

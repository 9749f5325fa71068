"""The rule for idempotent producers, by itself."""

from hypothesis import given
from hypothesis import strategies as st

from lakestream.metadata.rules.sequencing import (
    NUMBERS_PER_BATCH,
    RECENT_BATCHES_MAX,
    ProducerState,
    judge,
    last_sequence,
    remember,
)
from lakestream.model.segment import BatchStatus

LAST = 2**31 - 1


def after(*batches: tuple[int, int], epoch: int = 0) -> ProducerState:
    """The state after batches of (base sequence, records), stored at offsets 100, 110, ..."""
    state: ProducerState | None = None
    for number, (sequence, records) in enumerate(batches):
        state = remember(state, epoch, sequence, records, 100 + 10 * number, 7 + number)
    assert state is not None
    return state


def test_without_state_only_sequence_zero_is_stored() -> None:
    assert judge(None, 0, 0, 1).status is BatchStatus.STORED
    assert judge(None, 0, 1, 1).status is BatchStatus.UNKNOWN_PRODUCER


def test_the_next_sequence_is_stored() -> None:
    assert judge(after((0, 3)), 0, 3, 5).status is BatchStatus.STORED


def test_a_gap_is_out_of_order() -> None:
    assert judge(after((0, 3)), 0, 4, 1).status is BatchStatus.OUT_OF_ORDER


def test_a_duplicate_has_its_first_offset_and_time() -> None:
    assert judge(after((0, 3), (3, 2)), 0, 0, 3) == (BatchStatus.DUPLICATE, 100, 7)
    assert judge(after((0, 3), (3, 2)), 0, 3, 2) == (BatchStatus.DUPLICATE, 110, 8)


def test_other_bounds_are_not_a_duplicate() -> None:
    """A batch split or joined differently is not the one that was stored."""
    assert judge(after((0, 3), (3, 2)), 0, 0, 2).status is BatchStatus.OUT_OF_ORDER
    assert judge(after((0, 3), (3, 2)), 0, 0, 5).status is BatchStatus.OUT_OF_ORDER


def test_before_the_window_a_duplicate_is_too_old_to_answer() -> None:
    state = after(*((sequence, 1) for sequence in range(6)))
    assert judge(state, 0, 0, 1).status is BatchStatus.DUPLICATE_TOO_OLD
    assert judge(state, 0, 1, 1).status is BatchStatus.DUPLICATE


def test_while_the_window_is_not_full_nothing_is_too_old() -> None:
    assert judge(after((0, 1), (1, 1)), 0, LAST, 1).status is BatchStatus.OUT_OF_ORDER


def test_epochs_go_forward_and_begin_with_zero() -> None:
    state = after((0, 3), epoch=2)
    assert judge(state, 1, 3, 1).status is BatchStatus.STALE_EPOCH
    assert judge(state, 3, 3, 1).status is BatchStatus.OUT_OF_ORDER
    assert judge(state, 3, 0, 1).status is BatchStatus.STORED
    assert len(remember(state, 3, 0, 1, 200, -1).recent) == NUMBERS_PER_BATCH


def test_sequences_wrap() -> None:
    assert last_sequence(LAST, 1) == LAST
    assert last_sequence(LAST, 2) == 0
    assert last_sequence(LAST - 1, 4) == 1
    assert judge(after((LAST - 1, 2)), 0, 0, 1).status is BatchStatus.STORED
    wrapped = after(*((sequence, 1) for sequence in (LAST - 1, LAST, 0, 1, 2)))
    assert judge(wrapped, 0, LAST - 2, 1).status is BatchStatus.DUPLICATE_TOO_OLD
    assert judge(wrapped, 0, 9, 1).status is BatchStatus.OUT_OF_ORDER


@given(
    start=st.one_of(st.integers(0, 100), st.integers(LAST - 20, LAST)),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
)
def test_a_producer_that_goes_on_is_stored_and_its_last_five_are_known(start: int, sizes: list[int]) -> None:
    state: ProducerState | None = None
    sequence, offset, stored = start, 0, []
    for records in sizes:
        assert state is None or judge(state, 0, sequence, records).status is BatchStatus.STORED
        state = remember(state, 0, sequence, records, offset, -1)
        stored.append((sequence, records, offset))
        sequence, offset = (sequence + records) % (LAST + 1), offset + records
    assert state is not None
    assert len(state.recent) <= RECENT_BATCHES_MAX * NUMBERS_PER_BATCH
    for base, records, base_offset in stored[-RECENT_BATCHES_MAX:]:
        assert judge(state, 0, base, records) == (BatchStatus.DUPLICATE, base_offset, -1)
    for base, records, _ in stored[:-RECENT_BATCHES_MAX]:
        assert judge(state, 0, base, records).status is BatchStatus.DUPLICATE_TOO_OLD

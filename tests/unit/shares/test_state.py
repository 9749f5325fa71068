"""The window of a share-partition: locks, deliveries and what is done, against a model that knows every offset."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.broker.shares.acknowledging import Holder, acknowledge, check_acknowledged, given_back
from lakestream.broker.shares.acquiring import AcquireAsk, ReadBatch, acquire, next_offset
from lakestream.broker.shares.asks import AcknowledgedBatch, Acknowledgement, Acquired
from lakestream.broker.shares.errors import InvalidRecordState
from lakestream.broker.shares.state import RecordState, ShareState
from lakestream.broker.shares.state_codec import decode_share, encode_share
from lakestream.model.errors import Corrupt, InvalidRequest
from tests.golden.shares import make

GAP, ACCEPT, RELEASE, REJECT, RENEW = Acknowledgement
LOCK_MS = 1_000
DELIVERIES_MAX = 3
WINDOW_MAX = 40
NOTHING = ShareState(0, 0)


def ask(member: str = "a", *, now: int = 0, records: int = 100, whole: bool = False) -> AcquireAsk:
    return AcquireAsk(member, now + LOCK_MS, records, WINDOW_MAX, whole)


def holder(member: str = "a", now: int = 0) -> Holder:
    return Holder(member, now, now + LOCK_MS, DELIVERIES_MAX)


def log(*batches: tuple[int, int]) -> list[ReadBatch]:
    return [ReadBatch(first, last, True) for first, last in batches]


def taken(state: ShareState, batches: Sequence[ReadBatch], how: AcquireAsk) -> tuple[ShareState, list[Acquired]]:
    at = next_offset(state, WINDOW_MAX)
    assert at is not None
    return acquire(state, at, batches, how)


def said(first: int, last: int, *types: Acknowledgement) -> list[AcknowledgedBatch]:
    return [AcknowledgedBatch(first, last, types)]


def test_records_are_locked_for_one_member_and_done_when_it_accepts_them() -> None:
    state, got = taken(NOTHING, log((0, 9)), ask("a"))
    assert got == [Acquired(0, 9, 1)]
    assert next_offset(state, WINDOW_MAX) == 10
    assert acknowledge(state, said(0, 9, ACCEPT), holder("a")) == ShareState(10, 10)


def test_the_start_moves_only_past_what_is_done() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask())
    later = acknowledge(state, said(5, 9, ACCEPT), holder())
    assert (later.start, later.end, later.done) == (0, 10, 5)
    assert acknowledge(later, said(0, 4, REJECT), holder()) == ShareState(10, 10)


def test_a_member_cannot_acknowledge_what_another_one_holds_and_nothing_of_it_counts() -> None:
    state, _ = taken(NOTHING, log((0, 4)), ask("a"))
    state, _ = taken(state, log((5, 9)), ask("b"))
    with pytest.raises(InvalidRecordState):
        acknowledge(state, [*said(0, 4, ACCEPT), *said(5, 5, ACCEPT)], holder("a"))
    with pytest.raises(InvalidRecordState):
        acknowledge(state, said(8, 12, ACCEPT), holder("b"))


def test_a_released_record_is_the_next_to_be_delivered_and_counts_its_deliveries() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask("a"))
    state = acknowledge(state, said(3, 4, RELEASE), holder("a"))
    state, got = taken(state, log((3, 9)), ask("b"))
    assert got == [Acquired(3, 4, 2)]


def test_a_record_that_was_delivered_often_enough_is_given_up() -> None:
    state = NOTHING
    for _ in range(DELIVERIES_MAX):
        state, got = taken(state, log((0, 0)), ask())
        state = acknowledge(state, said(0, 0, RELEASE), holder())
    assert got == [Acquired(0, 0, DELIVERIES_MAX)]
    assert state == ShareState(1, 1)


def test_a_lock_that_ran_out_frees_its_records_and_counts_as_a_delivery() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask("a", now=0))
    assert state.next_deadline() == LOCK_MS
    assert state.unlocked(LOCK_MS - 1, DELIVERIES_MAX) is state
    with pytest.raises(InvalidRecordState):
        acknowledge(state, said(0, 9, ACCEPT), holder("a", now=LOCK_MS))
    freed = state.unlocked(LOCK_MS, DELIVERIES_MAX)
    assert taken(freed, log((0, 9)), ask("b", now=LOCK_MS))[1] == [Acquired(0, 9, 2)]


def test_a_renewed_lock_ends_later() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask("a"))
    state = acknowledge(state, said(0, 9, RENEW), holder("a", now=900))
    assert state.next_deadline() == 900 + LOCK_MS


def test_what_a_member_that_left_held_does_not_count_as_delivered() -> None:
    state, _ = taken(NOTHING, log((0, 4)), ask("a"))
    state, _ = taken(state, log((5, 9)), ask("b"))
    state = given_back(state, "a")
    assert taken(state, log((0, 9)), ask("c"))[1] == [Acquired(0, 4, 1)]


def test_each_offset_may_have_a_type_of_its_own() -> None:
    state, _ = taken(NOTHING, log((0, 4)), ask())
    state = acknowledge(state, said(0, 4, ACCEPT, ACCEPT, RELEASE, GAP, REJECT), holder())
    assert (state.start, state.done) == (2, 2)
    assert [one.state for one in state.portions] == [RecordState.AVAILABLE, RecordState.DONE]


def test_acknowledgements_below_the_window_change_nothing() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask())
    state = acknowledge(state, said(0, 4, ACCEPT), holder())
    assert acknowledge(state, said(0, 4, ACCEPT), holder()) == state
    assert acknowledge(state, said(2, 6, ACCEPT), holder()).start == 7


def test_the_number_of_records_is_exact_unless_whole_batches_are_wanted() -> None:
    exact, got = taken(NOTHING, log((0, 9), (10, 19)), ask(records=4))
    assert got == [Acquired(0, 3, 1)] and next_offset(exact, WINDOW_MAX) == 4
    _, got = taken(NOTHING, log((0, 9), (10, 19)), ask(records=4, whole=True))
    assert got == [Acquired(0, 9, 1)]


def test_the_window_never_grows_beyond_its_bound() -> None:
    state, got = taken(NOTHING, log((0, 99)), ask(records=1_000, whole=True))
    assert got == [Acquired(0, WINDOW_MAX - 1, 1)]
    assert next_offset(state, WINDOW_MAX) is None
    state = acknowledge(state, said(1, WINDOW_MAX - 1, ACCEPT), holder())
    assert next_offset(state, WINDOW_MAX) is None  # the first one is still held
    state = acknowledge(state, said(0, 0, RELEASE), holder())
    state, got = taken(state, log((0, 99)), ask(records=1_000, whole=True))
    assert got == [Acquired(0, 0, 2)]


def test_offsets_without_records_are_done_at_once() -> None:
    batches = [ReadBatch(3, 4, True), ReadBatch(5, 5, False), ReadBatch(9, 9, True)]
    state, got = taken(NOTHING, batches, ask())
    assert got == [Acquired(3, 4, 1), Acquired(9, 9, 1)]
    assert acknowledge(state, [*said(3, 4, ACCEPT), *said(9, 9, ACCEPT)], holder()) == ShareState(10, 10)


def test_a_released_record_that_the_log_has_lost_is_done() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask())
    state = acknowledge(state, said(2, 3, RELEASE), holder())
    state, got = taken(state, log((8, 9), (10, 11)), ask("b"))
    assert got == [Acquired(10, 11, 1)]
    assert [one for one in state.portions if one.state is RecordState.AVAILABLE] == []


def test_records_below_the_logs_start_are_done_whoever_holds_them() -> None:
    state, _ = taken(NOTHING, log((0, 9)), ask())
    assert state.from_offset(4).start == 4
    assert state.from_offset(50) == ShareState(50, 50)
    assert state.from_offset(0) is state


@pytest.mark.parametrize(
    ("batches", "renews"),
    [
        (said(5, 4, ACCEPT), True),
        ([*said(0, 5, ACCEPT), *said(5, 6, ACCEPT)], True),
        (said(0, 2, ACCEPT, ACCEPT), True),
        (said(0, 2), True),
        ([AcknowledgedBatch(0, 0, (5,))], True),
        (said(0, 0, RENEW), False),
    ],
)
def test_acknowledgements_that_make_no_sense_are_refused(batches: list[AcknowledgedBatch], renews: bool) -> None:
    with pytest.raises(InvalidRequest):
        check_acknowledged(batches, may_renew=renews)


def test_the_golden_state_is_read_as_it_was_written() -> None:
    written = (make.HERE / "v1.bin").read_bytes()
    assert decode_share(written) == make.STATE
    assert encode_share(make.STATE) == written


@pytest.mark.parametrize("data", [b"", b"\x02\x93", b"\x01", b"\x01\xc0", b"\x01\x93\x00\x90\x91\x91\x01"])
def test_a_state_that_cannot_be_read_says_so(data: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_share(data)


# --- a model -------------------------------------------------------------------------------------

MEMBERS = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "take whole", "say", "leave", "wait", "trim"]),
        st.sampled_from(MEMBERS),
        st.integers(0, 60),
        st.integers(1, 12),
        st.sampled_from([GAP, ACCEPT, RELEASE, REJECT, RENEW]),
    ),
    max_size=40,
)


class Model:
    """Every offset for itself."""

    def __init__(self) -> None:
        self.holder: dict[int, tuple[str, int]] = {}
        self.deliveries: dict[int, int] = {}
        self.done: set[int] = set()

    def free(self, now: int) -> None:
        for offset, (_, until) in list(self.holder.items()):
            if until <= now:
                self.release(offset)

    def release(self, offset: int) -> None:
        del self.holder[offset]
        if self.deliveries[offset] >= DELIVERIES_MAX:
            self.done.add(offset)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_the_window_tells_the_same_as_a_model_of_single_offsets(steps: list[tuple[str, str, int, int, int]]) -> None:
    state, model, now = NOTHING, Model(), 0
    batches = log(*((first, first + 6) for first in range(0, 700, 7)))
    for verb, member, at, length, kind in steps:
        now += 50
        state = state.unlocked(now, DELIVERIES_MAX)
        model.free(now)
        if verb.startswith("take") and (offset := next_offset(state, WINDOW_MAX)) is not None:
            here = [batch for batch in batches if batch.last >= offset][:3]
            state, got = acquire(state, offset, here, ask(member, now=now, records=length, whole=verb == "take whole"))
            for first, last, deliveries in got:
                for one in range(first, last + 1):
                    assert one not in model.holder and one not in model.done
                    model.deliveries[one] = model.deliveries.get(one, 0) + 1
                    assert model.deliveries[one] == deliveries
                    model.holder[one] = (member, now + LOCK_MS)
            if verb == "take":
                assert sum(last - first + 1 for first, last, _ in got) <= length
        elif verb == "say":
            first, last = state.start + at, state.start + at + length - 1
            held = all(model.holder.get(one, ("", 0))[0] == member for one in range(first, last + 1))
            try:
                state = acknowledge(state, said(first, last, Acknowledgement(kind)), holder(member, now))
            except InvalidRecordState:
                assert not held
                continue
            assert held
            for one in range(first, last + 1):
                if kind == RENEW:
                    model.holder[one] = (member, now + LOCK_MS)
                elif kind == RELEASE:
                    model.release(one)
                else:
                    del model.holder[one]
                    model.done.add(one)
        elif verb == "leave":
            state = given_back(state, member)
            for one in [one for one, (name, _) in model.holder.items() if name == member]:
                del model.holder[one]
                model.deliveries[one] -= 1
        elif verb == "wait":
            now += 400
        elif verb == "trim":
            gone = range(state.start, state.start + at // 10)
            state = state.from_offset(gone.stop)
            model.done.update(gone)
            for one in gone:
                model.holder.pop(one, None)
        check(state, model)


def check(state: ShareState, model: Model) -> None:
    assert state == decode_share(encode_share(state))
    assert state.size <= WINDOW_MAX
    at = state.start
    for one in state.portions:
        assert one.first == at and one.last >= one.first
        at = one.last + 1
        for offset in range(one.first, one.last + 1):
            assert (one.state is RecordState.DONE) == (offset in model.done)
            assert (one.state is RecordState.ACQUIRED) == (offset in model.holder)
            if one.state is not RecordState.DONE:
                assert one.deliveries == model.deliveries.get(offset, 0)
    assert at == state.end
    assert not state.portions or state.portions[0].state is not RecordState.DONE
    assert all(offset in model.done for offset in range(state.start))

"""Deadlines against the obvious implementation."""

from hypothesis import given
from hypothesis import strategies as st

from lakestream.broker.groups.deadlines import Deadlines

steps = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 4), st.integers(0, 50)),
        st.tuples(st.just("cancel"), st.integers(0, 4), st.just(0)),
        st.tuples(st.just("take"), st.just(0), st.integers(0, 50)),
    ),
    max_size=60,
)


@given(steps)
def test_deadlines_come_due_as_last_set(steps: list[tuple[str, int, int]]) -> None:
    deadlines: Deadlines[int] = Deadlines()
    plain: dict[int, int] = {}
    for what, key, at_ms in steps:
        if what == "set":
            deadlines.set(key, at_ms)
            plain[key] = at_ms
        elif what == "cancel":
            deadlines.cancel(key)
            plain.pop(key, None)
        else:
            due = deadlines.take_due(at_ms)
            assert set(due) == {key for key, at in plain.items() if at <= at_ms}
            times = [plain.pop(key) for key in due]
            assert times == sorted(times)
        assert deadlines.next() == min(plain.values(), default=None)
        assert len(deadlines) == len(plain)


def test_moving_a_deadline_back_costs_no_memory() -> None:
    deadlines: Deadlines[int] = Deadlines()
    for at_ms in range(10_000):
        deadlines.set(1, at_ms)
    assert len(deadlines._queue) == 1

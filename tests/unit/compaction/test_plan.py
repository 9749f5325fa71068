"""Planning: which topics are due, and how their spans become tasks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.model.freshness import Freshness
from lakestream.model.job import Debt, UntabledSpan
from lakestream.model.place import Span, Tail
from lakestream.model.transaction import EndedTransaction
from lakestream.table.compaction.plan import LATEST_MS, PlanLimits, PlannedJob, due_debts, plan_jobs

NOW = 1_000_000
LIMITS = PlanLimits(freshness_ms=10_000, due_bytes=1_000, due_spans=10)
UNTABLED = Tail(0, 100, 0)
A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def debt(
    topic: bytes = A,
    partition: int = 1,
    *,
    number: int = 0,
    tail: Tail = UNTABLED,
    spans: int = 1,
    bytes: int = 10,
    age_ms: int = 0,
    table: str | None = "table",
    freshness: Freshness | None = None,
) -> Debt:
    return Debt(topic, table, partition, number, tail, spans, bytes, NOW - age_ms, freshness)


def spans(*records: int, base: int = 0, length: int = 10) -> list[UntabledSpan]:
    found = []
    for at, count in enumerate(records):
        found.append(UntabledSpan(Span(base, base + count - 1, f"S{at}", 4, length, 50 + at, -1), 50 + at))
        base += count
    return found


def due(*debts: Debt, asked: frozenset[bytes] = frozenset(), limits: PlanLimits = LIMITS) -> list[bytes]:
    return [each.topic for each in due_debts(debts, asked, now_ms=NOW, limits=limits)]


def test_a_topic_is_due_when_its_oldest_record_has_waited_long_enough() -> None:
    assert due(debt(age_ms=9_999)) == []
    assert due(debt(age_ms=10_000)) == [A]


def test_much_data_or_many_spans_make_a_topic_due_earlier() -> None:
    assert due(debt(bytes=999)) == []
    assert due(debt(bytes=500), debt(partition=2, bytes=500)) == [A, A]
    assert due(debt(spans=10)) == [A]


def test_whoever_asked_is_due_at_once() -> None:
    assert due(debt(), debt(B, 2), asked=frozenset({B})) == [B]


@pytest.mark.parametrize(
    ("freshness", "due_ms"),
    [("on-read", 10_000), ("1s", 500), ("10s", 10_000), ("1m", 60_000), ("15m", 900_000), ("1h", 3_600_000)],
)
def test_a_topic_that_says_how_fresh_its_table_is_is_due_by_that(freshness: str, due_ms: int) -> None:
    assert due(debt(age_ms=due_ms - 1, freshness=Freshness(freshness))) == []
    assert due(debt(age_ms=due_ms, freshness=Freshness(freshness))) == [A]


def test_a_slow_topic_is_due_early_when_much_has_gathered() -> None:
    assert due(debt(bytes=1_000, freshness=Freshness.ONE_HOUR)) == [A]
    assert due(debt(spans=10, freshness=Freshness.ONE_HOUR)) == [A]


def test_nobody_waits_longer_than_an_hour() -> None:
    patient = PlanLimits(freshness_ms=10 * LATEST_MS)
    assert due(debt(age_ms=LATEST_MS - 1), limits=patient) == []
    assert due(debt(age_ms=LATEST_MS), limits=patient) == [A]


def test_those_who_waited_longest_come_first_and_a_round_has_a_bound() -> None:
    waiting = (debt(A, 1, age_ms=20_000), debt(B, 2, age_ms=40_000), debt(C, 3, age_ms=30_000))
    assert due(*waiting) == [B, C, A]
    assert due(*waiting, limits=PlanLimits(freshness_ms=10_000, round_topics_max=1)) == [B]


def test_fast_topics_come_first_however_long_others_have_waited() -> None:
    waiting = (
        debt(A, 1, age_ms=900_000),
        debt(B, 2, age_ms=600, freshness=Freshness.ONE_SECOND),
        debt(C, 3, age_ms=20_000, freshness=Freshness.ON_READ),
    )
    assert due(*waiting) == [C, B, A]
    assert due(*waiting, limits=PlanLimits(round_topics_max=2)) == [C, B]


def test_a_record_of_the_future_makes_its_topic_due_since_the_clock_was_set_back() -> None:
    assert due(debt(age_ms=-3_600_000)) == [A]


def test_a_topic_without_a_table_waits_for_it() -> None:
    assert due(debt(age_ms=20_000, table=None)) == []


def planned(
    debts: list[Debt], found: dict[int, list[UntabledSpan]], limits: PlanLimits = LIMITS, *, short: bool = False
) -> list[PlannedJob]:
    return plan_jobs(debts, found, limits, short=short)


def test_a_job_takes_whole_spans_from_the_end_of_the_table_to_the_end_of_the_log() -> None:
    (job,) = planned([debt(tail=Tail(0, 30, 10))], {1: spans(5, 5, 10, base=10)})
    assert job.ranges == ((1, 0, 10, 30, 52),)
    assert [(each.number, each.start, each.span.base_offset) for each in job.tasks[0]] == [
        (0, 10, 10),
        (0, 15, 15),
        (0, 20, 20),
    ]
    assert job.reaches_end
    assert (job.topic, job.table, job.bytes) == (A, "table", 30)


def test_deleted_records_are_left_out_of_the_span_that_they_begin() -> None:
    (job,) = planned([debt(tail=Tail(12, 30, 0))], {1: spans(10, 10, base=10)})
    assert job.ranges[0][2:4] == (12, 30)
    assert [each.start for each in job.tasks[0]] == [12, 20]


def test_a_gap_ends_what_is_taken() -> None:
    found = [*spans(10), *spans(10, base=20)]
    (job,) = planned([debt(tail=Tail(0, 30, 0))], {1: found})
    assert job.ranges[0][2:4] == (0, 10)
    assert not job.reaches_end
    assert planned([debt(tail=Tail(0, 30, 0))], {1: spans(10, base=20)}) == []


def test_small_partitions_share_a_task_in_their_order() -> None:
    debts = [debt(partition=7, number=1, tail=Tail(0, 5, 0)), debt(partition=3, number=0, tail=Tail(0, 5, 0))]
    (job,) = planned(debts, {7: spans(5), 3: spans(5)})
    assert [[each.number for each in task] for task in job.tasks] == [[0, 1]]


def test_a_big_partition_fills_several_tasks_of_about_equal_size() -> None:
    limits = PlanLimits(task_bytes_max=100, task_bytes_min=50, parallel=2)
    (job,) = planned([debt(tail=Tail(0, 25, 0))], {1: spans(*[1] * 25)}, limits)
    assert [len(task) for task in job.tasks] == [9, 8, 8]


def test_idle_cores_are_used_unless_files_would_be_tiny() -> None:
    limits = PlanLimits(task_bytes_max=1_000, task_bytes_min=50, parallel=4)
    (job,) = planned([debt(tail=Tail(0, 10, 0))], {1: spans(*[1] * 10)}, limits)
    assert [len(task) for task in job.tasks] == [5, 5]
    (job,) = planned([debt(tail=Tail(0, 9, 0))], {1: spans(*[1] * 9)}, limits)
    assert [len(task) for task in job.tasks] == [9]


def test_a_long_debt_is_paid_in_instalments_of_every_partition() -> None:
    limits = PlanLimits(round_bytes_max=60)
    debts = [debt(partition=p, number=p, tail=Tail(0, 10, 0), bytes=100) for p in (1, 2)]
    (job,) = planned(debts, {p: spans(*[1] * 10) for p in (1, 2)}, limits)
    assert [each.end for each in job.ranges] == [3, 3]
    assert not job.reaches_end


def test_a_long_debt_keeps_nobody_waiting_and_gets_what_the_others_leave() -> None:
    limits = PlanLimits(freshness_ms=10_000, round_bytes_max=1_000)
    owed = [debt(A, 1, age_ms=90_000, bytes=50_000), *(debt(B, 2 + n, number=n, age_ms=10_000) for n in range(4))]
    assert set(due(*owed, limits=limits)) == {A, B}, "also while the oldest owes more than a round takes"
    found = {1: spans(*[1] * 5_000)} | {2 + n: spans(1) for n in range(4)}
    long, small = planned(owed, found, limits)
    assert (long.bytes, small.bytes) == (960, 40)


def test_while_a_topic_is_fast_a_round_takes_little_of_slow_ones_and_as_much_of_fast_ones() -> None:
    limits = PlanLimits(round_bytes_max=1_000, short_round_bytes_max=100)
    slow, fast = debt(A, 1, bytes=50_000), debt(B, 2, bytes=50_000, freshness=Freshness.ONE_SECOND)
    found = {1: spans(*[1] * 5_000), 2: spans(*[1] * 5_000)}
    assert [job.bytes for job in planned([fast, slow], found, limits, short=True)] == [100, 100]
    assert [job.bytes for job in planned([slow], found, limits, short=True)] == [100], "also while none is due"
    assert [job.bytes for job in planned([slow], found, limits)] == [1_000], "without fast topics rounds are long"


def test_a_small_debt_of_a_fast_topic_is_paid_whole_beside_a_long_one_of_a_slow_topic() -> None:
    limits = PlanLimits(round_bytes_max=1_000, short_round_bytes_max=100)
    slow, fast = debt(A, 1, bytes=50_000), debt(B, 2, bytes=90, tail=Tail(0, 9, 0), freshness=Freshness.ON_READ)
    quick, _ = planned([fast, slow], {1: spans(*[1] * 5_000), 2: spans(*[1] * 9)}, limits, short=True)
    assert (quick.topic, quick.bytes, quick.reaches_end) == (B, 90, True)


def test_spans_of_a_round_have_a_bound_however_many_partitions_owe_them() -> None:
    limits = PlanLimits(spans_max=20_000, round_spans_max=200_000)
    assert [limits.spans_each_max(count) for count in (1, 10, 1_000, 1_000_000)] == [20_000, 20_000, 200, 1]


def test_each_topic_has_its_own_job() -> None:
    debts = [debt(A, 1, tail=Tail(0, 1, 0)), debt(B, 2, tail=Tail(0, 1, 0), table="other")]
    jobs = planned(debts, {1: spans(1), 2: spans(1)})
    assert [(job.topic, job.table) for job in jobs] == [(A, "table"), (B, "other")]


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 400)), max_size=30), min_size=1, max_size=5),
    st.integers(1, 6),
)
def test_every_span_is_in_exactly_one_task_and_order_is_kept(
    partitions: list[list[tuple[int, int]]], parallel: int
) -> None:
    found: dict[int, list[UntabledSpan]] = {}
    debts = []
    for number, own in enumerate(partitions):
        base, made = 0, []
        for at, (records, length) in enumerate(own):
            made.append(UntabledSpan(Span(base, base + records - 1, f"S{at}", 4, length, 0, -1), 0))
            base += records
        found[number] = made
        debts.append(debt(partition=number, number=number, tail=Tail(0, base, 0)))
    limits = PlanLimits(task_bytes_max=500, task_bytes_min=100, parallel=parallel)
    jobs = planned(debts, found, limits)
    taken = [each for job in jobs for task in job.tasks for each in task]
    expected = [(number, each.span) for number, own in found.items() for each in own]
    assert [(each.number, each.span) for each in taken] == expected
    assert all(task for job in jobs for task in job.tasks)


# --- transactions ------------------------------------------------------------------------------------


def ended(partition: int, first: int, last: int, number: int = 0, producer: int = 1) -> EndedTransaction:
    return EndedTransaction(partition, producer, number, first, last, True)


def ends(
    debts: list[Debt],
    found: dict[int, list[UntabledSpan]],
    transactions: list[EndedTransaction],
    waited_ms: int = 0,
) -> dict[int, int]:
    """Where each partition is cut."""
    waited = dict.fromkeys((debt.topic for debt in debts), waited_ms)
    jobs = plan_jobs(debts, found, LIMITS, ended=transactions, waited_ms=waited)
    return {each.partition: each.end for job in jobs for each in job.ranges}


def test_a_job_ends_below_the_first_open_transaction() -> None:
    open_from = Tail(0, 10, 0, 5)
    assert ends([debt(tail=open_from)], {1: spans(3, 2, 5)}, []) == {1: 5}
    assert ends([debt(tail=open_from)], {1: spans(3, 3, 4)}, []) == {1: 3}, "a span that holds its beginning stays"
    assert ends([debt(tail=Tail(0, 10, 0, 0))], {1: spans(10)}, []) == {}


def test_a_job_splits_no_transaction_of_its_topic() -> None:
    tail = Tail(0, 10, 0, 8)
    crossing = ended(1, first=4, last=9)
    assert ends([debt(tail=tail)], {1: spans(*[1] * 10)}, [crossing]) == {1: 4}
    whole = ended(1, first=4, last=7)
    assert ends([debt(tail=tail)], {1: spans(*[1] * 10)}, [whole]) == {1: 8}


def test_a_transaction_that_waits_in_one_partition_waits_in_all() -> None:
    debts = [debt(tail=Tail(0, 10, 0, 6)), debt(partition=2, number=1, tail=Tail(0, 10, 0))]
    parts = [ended(1, first=3, last=7), ended(2, first=5, last=6)]
    assert ends(debts, {1: spans(*[1] * 10), 2: spans(*[1] * 10)}, parts) == {1: 3, 2: 5}


def test_taking_one_transaction_back_takes_back_those_that_it_overlaps() -> None:
    tail = Tail(0, 12, 0, 10)
    chain = [ended(1, 8, 11, number=3), ended(1, 5, 9, number=2), ended(1, 2, 6, number=1), ended(1, 0, 1, number=0)]
    assert ends([debt(tail=tail)], {1: spans(*[1] * 12)}, chain) == {1: 2}


def test_a_transaction_larger_than_the_share_of_a_round_is_taken_whole() -> None:
    limits = PlanLimits(round_bytes_max=30)
    whole = [ended(1, first=0, last=9)]
    (job,) = plan_jobs([debt(tail=Tail(0, 10, 0), bytes=100)], {1: spans(*[1] * 10)}, limits, ended=whole)
    assert [each.end for each in job.ranges] == [10]


def test_transactions_that_overlap_for_ever_do_not_keep_a_topic_out_of_its_table() -> None:
    tail = Tail(0, 10, 0, 8)
    found, crossing = {1: spans(*[1] * 10)}, [ended(1, first=0, last=9)]
    assert ends([debt(tail=tail)], found, crossing) == {}
    assert ends([debt(tail=tail)], found, crossing, waited_ms=LIMITS.whole_transactions_ms) == {1: 8}


def test_a_job_that_stops_at_an_open_transaction_has_done_what_it_could() -> None:
    (job,) = plan_jobs([debt(tail=Tail(0, 10, 0, 5))], {1: spans(5, 5)}, LIMITS)
    assert job.reaches_end
    limits = PlanLimits(round_bytes_max=10)
    (job,) = plan_jobs([debt(tail=Tail(0, 10, 0, 8), bytes=100)], {1: spans(*[1] * 10)}, limits)
    assert not job.reaches_end


def test_a_round_is_larger_where_many_workers_share_it() -> None:
    limits = PlanLimits()
    assert limits.for_workers(2) == replace(limits, parallel=2)
    large = limits.for_workers(100)
    assert large.round_bytes_max == 100 * limits.task_bytes_max // 2 > limits.round_bytes_max
    assert large.short_round_bytes_max == limits.short_round_bytes_max, "fast topics stay fast"

"""Topics that transactions join are cut together, within bounds."""

import random

from lakestream.model.job import Debt, UntabledSpan
from lakestream.model.place import Span, Tail
from lakestream.model.transaction import EndedTransaction
from lakestream.table.compaction.plan import PlanLimits, PlannedJob, plan_jobs
from lakestream.table.compaction.whole_transactions import committed_transactions, without_split_transactions

LIMITS = PlanLimits(joined_topics_max=3)
RECORDS = 10
UNTABLED = Tail(0, RECORDS)


def topic(number: int) -> bytes:
    """The topic of the partition of this number: each topic has one."""
    return bytes([number]) * 16


def debts(*partitions: int, tail: Tail = UNTABLED) -> list[Debt]:
    return [Debt(topic(id), "table", id, 0, tail, RECORDS, 10, 0) for id in partitions]


def spans(*partitions: int, count: int = RECORDS) -> dict[int, list[UntabledSpan]]:
    return {
        id: [UntabledSpan(Span(at, at, f"S{id}-{at}", 4, 10, 1, -1), 1) for at in range(count)] for id in partitions
    }


def ended(number: int, *parts: tuple[int, int, int], committed: bool = True) -> list[EndedTransaction]:
    """`parts`: partition, first and last offset."""
    return [EndedTransaction(id, 1, number, first, last, committed) for id, first, last in parts]


def ends(jobs: list[PlannedJob]) -> dict[int, int]:
    return {each.partition: each.end for job in jobs for each in job.ranges}


def groups(jobs: list[PlannedJob]) -> list[set[int]]:
    found: dict[bytes, set[int]] = {}
    for job in jobs:
        found.setdefault(job.together or job.topic, set()).add(job.ranges[0].partition)
    return sorted(found.values(), key=min)


def test_topics_of_one_transaction_are_committed_together_and_others_by_themselves() -> None:
    transaction = ended(0, (1, 2, 4), (2, 0, 3))
    jobs = plan_jobs(debts(1, 2, 3), spans(1, 2, 3), LIMITS, ended=transaction)
    assert groups(jobs) == [{1, 2}, {3}]
    assert ends(jobs) == {1: RECORDS, 2: RECORDS, 3: RECORDS}


def test_a_transaction_that_one_topic_cannot_take_yet_waits_in_all_of_them() -> None:
    held = debts(1) + debts(2, tail=Tail(0, RECORDS, 0, 1))
    jobs = plan_jobs(held, spans(1, 2), LIMITS, ended=ended(0, (1, 2, 4), (2, 3, 5)))
    assert ends(jobs) == {1: 2, 2: 1}
    assert groups(jobs) == [{1}, {2}]


def test_an_aborted_transaction_joins_nothing_and_may_be_cut() -> None:
    held = debts(1, tail=Tail(0, RECORDS, 0, 4)) + debts(2)
    jobs = plan_jobs(held, spans(1, 2), LIMITS, ended=ended(0, (1, 2, 6), (2, 0, 3), committed=False))
    assert ends(jobs) == {1: 4, 2: RECORDS}
    assert groups(jobs) == [{1}, {2}]
    assert [each.range.first_offset for job in jobs for each in job.aborted] == [2, 0]


def test_a_topic_that_is_not_there_holds_up_those_that_it_is_joined_to() -> None:
    assert ends(plan_jobs(debts(1), spans(1), LIMITS, ended=ended(0, (1, 2, 4), (9, 3, 5)))) == {1: 2}


def test_nobody_waits_for_a_topic_that_failed() -> None:
    transaction = ended(0, (1, 2, 4), (9, 3, 5))
    assert ends(plan_jobs(debts(1), spans(1), LIMITS, ended=transaction, alone={9})) == {1: RECORDS}
    jobs = plan_jobs(debts(1, 9), spans(1, 9), LIMITS, ended=transaction, alone={1, 9})
    assert groups(jobs) == [{1}, {9}]


def test_nobody_waits_for_ever() -> None:
    transaction = ended(0, (1, 0, 4), (9, 3, 5))
    assert plan_jobs(debts(1), spans(1), LIMITS, ended=transaction) == []
    waited = {topic(1): LIMITS.whole_transactions_ms}
    assert ends(plan_jobs(debts(1), spans(1), LIMITS, ended=transaction, waited_ms=waited)) == {1: RECORDS}


def test_a_topic_that_waits_no_longer_still_splits_none_of_its_own_transactions_if_it_can() -> None:
    held = debts(1, tail=Tail(0, RECORDS, 0, 7))
    transactions = ended(0, (1, 0, 4), (9, 3, 5)) + ended(1, (1, 5, 8))
    waited = {topic(1): LIMITS.whole_transactions_ms}
    assert ends(plan_jobs(held, spans(1), LIMITS, ended=transactions, waited_ms=waited)) == {1: 5}


def test_a_transaction_of_more_topics_than_the_bound_shows_table_by_table() -> None:
    jobs = plan_jobs(debts(1, 2, 3, 4), spans(1, 2, 3, 4), LIMITS, ended=ended(0, *((id, 0, 1) for id in (1, 2, 3, 4))))
    assert groups(jobs) == [{1}, {2}, {3}, {4}]
    assert set(ends(jobs).values()) == {RECORDS}


def test_a_chain_of_transactions_joins_as_many_topics_as_the_bound_and_the_rest_waits_its_turn() -> None:
    chain = [part for at in range(1, 6) for part in ended(at, (at, 2 * at, 2 * at + 1), (at + 1, 2 * at, 2 * at + 1))]
    everyone = range(1, 7)
    jobs = plan_jobs(debts(*everyone), spans(*everyone, count=20), LIMITS, ended=chain)
    assert all(len(group) <= LIMITS.joined_topics_max for group in groups(jobs))
    cut = ends(jobs)
    for number in range(1, 6):
        parts = [part for part in chain if part.number == number]
        taken = [part for part in parts if part.first_offset < cut[part.partition]]
        assert taken in ([], parts), "no transaction is split"


def test_cuts_are_the_longest_that_split_nothing() -> None:
    """Against a search that takes transactions back one by one, from all sides, until nothing changes."""
    for seed in range(200):
        rng = random.Random(seed)
        found = spans(1, 2, 3, count=rng.randint(1, 12))
        parts: list[EndedTransaction] = []
        for number in range(rng.randint(0, 8)):
            for id in rng.sample([1, 2, 3], rng.randint(1, 3)):
                first = rng.randint(0, 12)
                parts += ended(number, (id, first, first + rng.randint(1, 5)))
        transactions = committed_transactions(parts)
        cut = {id: len(kept) for id, kept in without_split_transactions(found, transactions).items()}
        slow = {id: len(own) for id, own in found.items()}
        changes = True
        while changes:
            changes = False
            for transaction in transactions:
                if any(part.last_offset >= slow[part.partition] for part in transaction.parts):
                    for part in transaction.parts:
                        if part.first_offset < slow[part.partition]:
                            slow[part.partition], changes = part.first_offset, True
        assert cut == slow, seed

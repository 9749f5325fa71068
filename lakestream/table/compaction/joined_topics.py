"""Joins topics whose tables have to show transactions together, and cuts them together. Pure.

    topics with their stable spans + transactions -> components of joined topics -> cuts -> what moves in one commit

Every query that begins after a commit sees all tables of a transaction with its rows, or none of them. That has bounds:

- A transaction of more than `joined_topics_max` topics shows table by table.
- Where transactions one by one would join more topics than that, those that lie farthest from the front wait for a
  later round.
- A topic that has nothing to take for `whole_transactions_ms`, because it waits for others, is cut regardless of them.
- Nobody waits for a topic whose job failed, until a job of it was committed.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from lakestream.model.job import Debt
from lakestream.model.topic import PartitionId, TopicId
from lakestream.model.transaction import EndedTransaction
from lakestream.table.compaction.whole_transactions import (
    CommittedTransaction,
    Prefixes,
    committed_transactions,
    without_split_transactions,
)


class Components:
    """Sets of joined topics."""

    def __init__(self) -> None:
        self._members: dict[TopicId, set[TopicId]] = {}

    def of(self, topic: TopicId) -> AbstractSet[TopicId]:
        return self._members.get(topic, {topic})

    def would_be(self, topics: Iterable[TopicId]) -> set[TopicId]:
        return {member for topic in topics for member in self.of(topic)}

    def join(self, topics: Iterable[TopicId]) -> None:
        joined = self.would_be(topics)
        for member in joined:
            self._members[member] = joined


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedTopics:
    """The transactions of a round, by what they join."""

    transactions: Sequence[CommittedTransaction]
    """Those that no cut may split."""
    left_out: Sequence[CommittedTransaction]
    """Of these, the ones that would join too many topics in this round."""
    components: Components = field(default_factory=Components)

    def cut(self, prefixes: Prefixes) -> Prefixes:
        return without_split_transactions(prefixes, self.transactions, self.left_out)


def join_topics(
    debts: Sequence[Debt],
    ended: Iterable[EndedTransaction],
    *,
    topics_max: int,
    alone: AbstractSet[PartitionId],
) -> JoinedTopics:
    """`ended` may have parts in topics without debts here: whatever they join waits. `alone`: partitions of topics that
    nobody waits for, and that wait for nobody."""
    topic_of = {debt.partition: debt.topic for debt in debts}
    start_of = {debt.partition: debt.tail.tabled_or_gone for debt in debts}
    whole, components, left_out = [], Components(), []
    for transaction in committed_transactions(ended):
        together = CommittedTransaction(tuple(part for part in transaction.parts if part.partition not in alone))
        apart = [part for part in transaction.parts if part.partition in alone]
        whole += _by_topic(apart, topic_of)
        topics = {topic_of.get(part.partition) for part in together.parts}
        whole += [together] if 0 < len(topics) <= topics_max else _by_topic(together.parts, topic_of)
    for transaction in sorted(whole, key=lambda each: _distance(each, start_of)):
        members = {topic_of[part.partition] for part in transaction.parts if part.partition in topic_of}
        if len(members) < 2:
            continue
        if len(components.would_be(members)) > topics_max:
            left_out.append(transaction)
        else:
            components.join(members)
    return JoinedTopics(transactions=whole, left_out=left_out, components=components)


def _by_topic(parts: Iterable[EndedTransaction], topic_of: Mapping[PartitionId, TopicId]) -> list[CommittedTransaction]:
    """Each topic's parts for themselves."""
    found: dict[TopicId | None, list[EndedTransaction]] = {}
    for part in parts:
        found.setdefault(topic_of.get(part.partition), []).append(part)
    return [CommittedTransaction(tuple(own)) for own in found.values()]


def _distance(transaction: CommittedTransaction, start_of: Mapping[PartitionId, int]) -> int:
    """From the front of the log that is not in the table yet: what lies there holds up all behind it."""
    return min(part.first_offset - start_of.get(part.partition, 0) for part in transaction.parts)


def moving_together(
    joined: JoinedTopics, topic_of: Mapping[PartitionId, TopicId], ends: Mapping[PartitionId, int]
) -> Components:
    """The topics that have to move in one commit, given where each partition is cut: those of which a transaction is
    taken."""
    together = Components()
    for transaction in joined.transactions:
        taken = {
            topic_of[part.partition]
            for part in transaction.parts
            if part.partition in topic_of and part.first_offset < ends.get(part.partition, 0)
        }
        if len(taken) > 1:
            together.join(taken)
    return together

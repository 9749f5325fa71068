"""Planning: which topics are due, and how their spans are cut into tasks. Pure: no Spark, no stores.

    debts (partitions with records in the WAL) -> due topics, fast ones and then oldest first -> spans -> jobs, one each
    a job's spans, by partition and offset     -> tasks of whole spans, of about equal size: each writes one file

A job takes nothing from the first open transaction on, and splits no transaction (whole_transactions.py). Topics that
transactions join are cut together, and their jobs are committed together (joined_topics.py).

Small partitions share a file, big ones fill several. A job takes a prefix of each partition, so the table's content
stays contiguous whatever happens to other jobs.

Each topic is due by its own freshness (model/freshness.py). Two rules keep fast topics (on-read, 1s) fresh while others
catch up. A round takes due fast topics before all others. While any topic is fast, rounds are short: a round takes at
most `short_round_bytes_max` of fast topics and as much of slow ones, so the next round begins soon.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from lakestream.model.job import Debt, UntabledSpan
from lakestream.model.place import Span, is_inline
from lakestream.model.table import TableId
from lakestream.model.topic import PartitionId, TopicId
from lakestream.model.transaction import AbortedRange, EndedTransaction
from lakestream.table.compaction.joined_topics import JoinedTopics, join_topics, moving_together
from lakestream.table.compaction.whole_transactions import (
    Prefixes,
    committed_transactions,
    stable_spans,
    without_split_transactions,
)

LATEST_MS = 60 * 60 * 1000
"""The longest wait of any topic, whatever its own setting."""
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    freshness_ms: int = 10_000
    """A topic without a freshness of its own is due when its oldest record outside the table has this age."""
    due_bytes: int = 64 * MIB
    due_spans: int = 2_000
    """... or when it has so many spans: a busy topic is worth a file earlier."""
    task_bytes_max: int = 128 * MIB
    """WAL bytes that become one file. A worker holds them in memory."""
    task_bytes_min: int = 16 * MIB
    """A topic below this size is not cut further to keep more cores busy: small files are expensive for readers."""
    parallel: int = 2
    """Tasks that can run at once."""
    round_bytes_max: int = 1024 * MIB
    """WAL bytes of one round, shared by all due topics. A large debt is paid in rounds that each commit."""
    short_round_bytes_max: int = 64 * MIB
    """WAL bytes of fast topics, and of slow topics, in one round while any topic is fast."""
    round_topics_max: int = 1_000
    spans_max: int = 20_000
    """Spans of one partition in one round."""
    whole_transactions_ms: int = 60_000
    """How long a topic waits for a place to cut where no transaction is split, neither in it nor between it and others.
    Producers whose transactions overlap all the time would otherwise keep it out of its table for ever."""
    joined_topics_max: int = 32
    """Topics whose jobs are committed together, because transactions join them. One commit writes all their tables."""
    round_spans_max: int = 200_000
    """Spans of all partitions of a round. They are held in memory and travel with the tasks. A topic of a thousand
    partitions gathers millions while no pipeline runs."""

    def spans_each_max(self, partitions: int) -> int:
        """The spans that each partition may bring to a round of so many partitions."""
        return max(1, min(self.spans_max, self.round_spans_max // max(1, partitions)))

    def for_workers(self, parallel: int) -> "PlanLimits":
        """The limits while `parallel` tasks run at once. Where many do, a round has half a task's bytes for each."""
        shared = parallel * self.task_bytes_max // 2
        return replace(self, parallel=parallel, round_bytes_max=max(self.round_bytes_max, shared))


class TaskSpan(NamedTuple):
    number: int
    """The partition's number in its topic."""
    start: int
    """Records below this offset are skipped: they were deleted, or are in the table."""
    span: Span


class PlannedRange(NamedTuple):
    """Offsets [start, end) of a partition."""

    partition: PartitionId
    number: int
    start: int
    end: int
    max_timestamp_ms: int
    """The greatest time of all records that are in the table afterwards."""


class AbortedRecords(NamedTuple):
    """An aborted transaction's records of a partition. They do not become rows."""

    number: int
    """The partition's number in its topic."""
    range: AbortedRange


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    topic: TopicId
    table: TableId
    ranges: tuple[PlannedRange, ...]
    tasks: tuple[tuple[TaskSpan, ...], ...]
    bytes: int
    reaches_end: bool
    """Whether the job takes everything that the topic had when it was planned, except for open transactions."""
    aborted: tuple[AbortedRecords, ...] = ()
    together: TopicId | None = None
    """Jobs that name the same topic here are committed together, or not at all. None: the job is on its own."""


def due_debts(debts: Iterable[Debt], asked: AbstractSet[TopicId], *, now_ms: int, limits: PlanLimits) -> list[Debt]:
    """The debts of due topics, fast topics first, then the longest waiting, up to as many as fit into a round.

    The size of the debt does not count here: a large debt would keep all others waiting until it is paid."""
    by_topic: dict[TopicId, list[Debt]] = {}
    for debt in debts:
        if debt.table is not None:
            by_topic.setdefault(debt.topic, []).append(debt)
    due = [own for topic, own in by_topic.items() if topic in asked or _is_due(own, now_ms, limits)]
    due.sort(key=lambda own: (not is_fast(own[0]), _oldest_ms(own)))
    return [debt for own in due[: limits.round_topics_max] for debt in own]


def is_fast(debt: Debt) -> bool:
    return debt.freshness is not None and debt.freshness.is_fast


def plan_jobs(
    due: Sequence[Debt],
    spans: Mapping[PartitionId, Sequence[UntabledSpan]],
    limits: PlanLimits,
    *,
    short: bool = False,
    ended: Sequence[EndedTransaction] = (),
    waited_ms: Mapping[TopicId, int] = MappingProxyType({}),
    alone: AbstractSet[PartitionId] = frozenset(),
) -> list[PlannedJob]:
    """A job for each topic that has something to take. `short`: a fast topic exists, due or not. `ended`: the
    transactions that ended and are not in the tables yet. `waited_ms`: how long topics have had nothing to take.
    `alone`: partitions of topics that move without those that transactions join them to."""
    share = _shares(due, limits, short=short)
    joined = join_topics(due, ended, topics_max=limits.joined_topics_max, alone=alone)
    by_topic: dict[TopicId, list[Debt]] = {}
    for debt in due:
        by_topic.setdefault(debt.topic, []).append(debt)
    stable = {debt.partition: _stable_prefix(debt, spans, share[is_fast(debt)]) for debt in due}
    cuts = _cuts(by_topic, spans, stable, joined, ended, waited_ms, limits)
    everything = (
        cuts if not _is_held_up(due, ended) else joined.cut({d.partition: _stable_prefix(d, spans) for d in due})
    )
    aborted: dict[PartitionId, list[EndedTransaction]] = {}
    for part in ended:
        if not part.committed:
            aborted.setdefault(part.partition, []).append(part)
    jobs = [
        job
        for own in by_topic.values()
        if (
            job := _job(own, cuts, everything, limits, [part for d in own for part in aborted.get(d.partition, ())])
        ).tasks
    ]
    return _together(jobs, due, cuts, joined)


def _is_held_up(due: Sequence[Debt], ended: Sequence[EndedTransaction]) -> bool:
    """Whether transactions may keep a topic from being taken to its end."""
    return bool(ended) or any(debt.tail.unstable_from is not None for debt in due)


def _together(jobs: list[PlannedJob], due: Sequence[Debt], cuts: Prefixes, joined: JoinedTopics) -> list[PlannedJob]:
    """Jobs that take parts of one transaction name the same topic: the least of theirs."""
    topic_of = {debt.partition: debt.topic for debt in due}
    ends = {partition: prefix[-1].span.last_offset + 1 for partition, prefix in cuts.items() if prefix}
    together = moving_together(joined, topic_of, ends)
    return [replace(job, together=min(members)) if len(members := together.of(job.topic)) > 1 else job for job in jobs]


def _is_due(debts: Sequence[Debt], now_ms: int, limits: PlanLimits) -> bool:
    """A record from the future makes a topic due too: the clock was set back, and may take long to catch up."""
    return (
        not 0 <= now_ms - _oldest_ms(debts) < min(_due_ms(debts[0], limits), LATEST_MS)
        or sum(debt.bytes for debt in debts) >= limits.due_bytes
        or sum(debt.spans for debt in debts) >= limits.due_spans
    )


def _due_ms(debt: Debt, limits: PlanLimits) -> int:
    return limits.freshness_ms if debt.freshness is None else debt.freshness.due_ms


def _oldest_ms(debts: Sequence[Debt]) -> int:
    return min(debt.oldest_ms for debt in debts)


def _job(
    debts: Sequence[Debt],
    cuts: Prefixes,
    everything: Prefixes,
    limits: PlanLimits,
    aborted: Sequence[EndedTransaction],
) -> PlannedJob:
    ranges: list[PlannedRange] = []
    taken: list[TaskSpan] = []
    in_order = sorted(debts, key=lambda debt: debt.number)
    for debt in in_order:
        start = debt.tail.tabled_or_gone
        prefix = cuts[debt.partition]
        if prefix:
            last = prefix[-1]
            end, latest = last.span.last_offset + 1, last.running_max_timestamp_ms
            ranges.append(PlannedRange(debt.partition, debt.number, start, end, latest))
            taken += [TaskSpan(debt.number, max(start, each.span.base_offset), each.span) for each in prefix]
    table = debts[0].table
    number_of = {debt.partition: debt.number for debt in debts}
    assert table is not None, "topics without a table are not due"
    return PlannedJob(
        topic=debts[0].topic,
        table=table,
        ranges=tuple(ranges),
        tasks=_cut(taken, limits),
        bytes=_bytes(taken),
        reaches_end=_reaches_end(in_order, ranges, cuts, everything),
        aborted=tuple(
            AbortedRecords(number_of[part.partition], AbortedRange(*part[1:2], *part[3:5])) for part in aborted
        ),
    )


def _cuts(
    by_topic: Mapping[TopicId, Sequence[Debt]],
    spans: Mapping[PartitionId, Sequence[UntabledSpan]],
    stable: Prefixes,
    joined: JoinedTopics,
    ended: Sequence[EndedTransaction],
    waited_ms: Mapping[TopicId, int],
    limits: PlanLimits,
) -> Prefixes:
    """The spans to take of each partition. A transaction larger than the share is taken whole. A topic that waits for
    too long for a place to cut is cut by its own transactions alone, and if these leave none either, regardless."""
    if not ended:
        return stable
    cuts = dict(joined.cut(stable))
    held = _held(by_topic, stable, cuts)
    if held:
        larger = dict(stable)
        for topic in joined.components.would_be(held):
            larger |= {debt.partition: _stable_prefix(debt, spans) for debt in by_topic[topic]}
        cuts = dict(joined.cut(larger))
        held = _held(by_topic, stable, cuts)
    for topic in held:
        if waited_ms.get(topic, 0) >= limits.whole_transactions_ms:
            own = {debt.partition: stable[debt.partition] for debt in by_topic[topic]}
            by_itself = committed_transactions(part for part in ended if part.partition in own)
            alone = without_split_transactions(own, by_itself)
            cuts |= alone if any(alone.values()) else own
    return cuts


def _held(by_topic: Mapping[TopicId, Sequence[Debt]], stable: Prefixes, cuts: Prefixes) -> list[TopicId]:
    """Topics that have stable records, and nothing to take."""
    return [
        topic
        for topic, own in by_topic.items()
        if any(stable[debt.partition] for debt in own) and not any(cuts[debt.partition] for debt in own)
    ]


def _stable_prefix(
    debt: Debt, spans: Mapping[PartitionId, Sequence[UntabledSpan]], share: int | None = None
) -> Sequence[UntabledSpan]:
    own = spans.get(debt.partition, ())
    if debt.tail.unstable_from is not None:
        own = stable_spans(own, debt.tail.last_stable)
    return _prefix(own, debt.tail.tabled_or_gone, share)


def _reaches_end(
    in_order: Sequence[Debt], ranges: Sequence[PlannedRange], cuts: Prefixes, everything: Prefixes
) -> bool:
    if everything is not cuts:
        return all(len(cuts[debt.partition]) >= len(everything[debt.partition]) for debt in in_order)
    return len(ranges) == len(in_order) and all(
        each.end >= debt.tail.next_offset for each, debt in zip(ranges, in_order, strict=True)
    )


def _shares(due: Sequence[Debt], limits: PlanLimits, *, short: bool) -> dict[bool, int]:
    """The most bytes that each partition of a fast topic (True), and of a slow one (False), may bring."""
    if not short:
        return dict.fromkeys((True, False), _share([debt.bytes for debt in due], limits.round_bytes_max))
    bytes_max = min(limits.short_round_bytes_max, limits.round_bytes_max)
    return {fast: _share([debt.bytes for debt in due if is_fast(debt) is fast], bytes_max) for fast in (True, False)}


def _share(owed: Sequence[int], bytes_max: int) -> int:
    """The most that each may bring so that the total stays within the limit. Smaller debts leave room for others."""
    left = bytes_max
    for at, bytes in enumerate(sorted(owed)):
        equal = left // (len(owed) - at)
        if bytes > equal:
            return equal
        left -= bytes
    return bytes_max


def _prefix(spans: Sequence[UntabledSpan], start: int, bytes_max: int | None) -> list[UntabledSpan]:
    """The first spans from `start` on without a gap between them, up to the limit if there is one."""
    prefix: list[UntabledSpan] = []
    total, expected = 0, start
    for each in spans:
        if each.span.last_offset < start:
            continue
        if each.span.base_offset > expected:
            break
        if prefix and bytes_max is not None and total + each.span.length > bytes_max:
            break
        if is_inline(each.span.segment):
            break  # workers read objects alone; it came after the mover ran, so after the debt was read
        prefix.append(each)
        total += each.span.length
        expected = each.span.last_offset + 1
    return prefix


def _cut(spans: Sequence[TaskSpan], limits: PlanLimits) -> tuple[tuple[TaskSpan, ...], ...]:
    """Tasks of about equal size: as few as the size limit allows, or as many as can run at once."""
    total = _bytes(spans)
    count = max(-(-total // limits.task_bytes_max), min(limits.parallel, total // limits.task_bytes_min), 1)
    tasks: list[list[TaskSpan]] = []
    before = 0
    for each in spans:
        if not tasks or before >= len(tasks) * total / count:
            tasks.append([])
        tasks[-1].append(each)
        before += each.span.length
    return tuple(map(tuple, tasks))


def _bytes(spans: Iterable[TaskSpan]) -> int:
    return sum(each.span.length for each in spans)

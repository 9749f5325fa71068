"""Planning: which topics are due, and how their spans are cut into tasks. Pure; knows neither Spark nor stores.

    debts (partitions with records in the WAL) -> due topics, oldest first -> spans -> jobs, one for each topic
    a job's spans, by partition and offset     -> tasks of whole spans, of about equal size: each writes one file

Small partitions share a file, big ones fill several. A job takes a prefix of each partition, so that what is in the
table stays contiguous whatever becomes of other jobs.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.job import Debt, UntabledSpan
from lakestream.model.place import Span
from lakestream.model.table import TableId
from lakestream.model.topic import PartitionId, TopicId

LATEST_MS = 15 * 60 * 1000
"""No topic waits longer, however patient it is."""
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    freshness_ms: int = 10_000
    """A topic is due when its oldest record outside the table is so old."""
    due_bytes: int = 64 * MIB
    due_spans: int = 2_000
    """... or when so much has gathered: a busy topic is worth a file earlier."""
    task_bytes_max: int = 128 * MIB
    """WAL bytes that become one file. A worker holds them in memory."""
    task_bytes_min: int = 16 * MIB
    """Below it a topic is not cut further to keep more cores busy: small files cost readers."""
    parallel: int = 2
    """Tasks that can run at once."""
    round_bytes_max: int = 1024 * MIB
    """WAL bytes of one round, shared by all topics that are due. Then it is committed: a long debt is paid in
    instalments that each count."""
    round_topics_max: int = 1_000
    spans_max: int = 20_000
    """Spans of one partition in one round."""
    round_spans_max: int = 200_000
    """Spans of all partitions of a round. They are held in memory and travel with the tasks; a topic of a thousand
    partitions gathers millions while no pipeline runs."""

    def spans_each_max(self, partitions: int) -> int:
        """Spans of each of so many partitions in one round."""
        return max(1, min(self.spans_max, self.round_spans_max // max(1, partitions)))


class TaskSpan(NamedTuple):
    number: int
    """Of the partition, in its topic."""
    start: int
    """Records below are not taken: they were deleted, or are in the table."""
    span: Span


class PlannedRange(NamedTuple):
    """Offsets [start, end) of a partition."""

    partition: PartitionId
    number: int
    start: int
    end: int
    max_timestamp_ms: int
    """The greatest time of everything that will then be in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    topic: TopicId
    table: TableId
    ranges: tuple[PlannedRange, ...]
    tasks: tuple[tuple[TaskSpan, ...], ...]
    bytes: int
    reaches_end: bool
    """Whether nothing of what the topic had when it was planned is left for another round."""


def due_debts(debts: Iterable[Debt], asked: AbstractSet[TopicId], *, now_ms: int, limits: PlanLimits) -> list[Debt]:
    """Those of the topics that are due, the topic that has waited longest first, up to as many as a round takes. How
    much they owe does not count here: a long debt would keep all others waiting until it is paid."""
    by_topic: dict[TopicId, list[Debt]] = {}
    for debt in debts:
        if debt.table is not None:
            by_topic.setdefault(debt.topic, []).append(debt)
    due = [own for topic, own in by_topic.items() if topic in asked or _is_due(own, now_ms, limits)]
    due.sort(key=_oldest_ms)
    return [debt for own in due[: limits.round_topics_max] for debt in own]


def plan_jobs(
    due: Sequence[Debt], spans: Mapping[PartitionId, Sequence[UntabledSpan]], limits: PlanLimits
) -> list[PlannedJob]:
    """A job for each topic that has something to take."""
    share = _share([debt.bytes for debt in due], limits.round_bytes_max)
    by_topic: dict[TopicId, list[Debt]] = {}
    for debt in due:
        by_topic.setdefault(debt.topic, []).append(debt)
    jobs = (_job(own, spans, share, limits) for own in by_topic.values())
    return [job for job in jobs if job.tasks]


def _is_due(debts: Sequence[Debt], now_ms: int, limits: PlanLimits) -> bool:
    """Also where the oldest record is of the future: the clock was set back, and it may be long until it is there."""
    return (
        not 0 <= now_ms - _oldest_ms(debts) < min(limits.freshness_ms, LATEST_MS)
        or sum(debt.bytes for debt in debts) >= limits.due_bytes
        or sum(debt.spans for debt in debts) >= limits.due_spans
    )


def _oldest_ms(debts: Sequence[Debt]) -> int:
    return min(debt.oldest_ms for debt in debts)


def _job(
    debts: Sequence[Debt], spans: Mapping[PartitionId, Sequence[UntabledSpan]], share: int, limits: PlanLimits
) -> PlannedJob:
    ranges: list[PlannedRange] = []
    taken: list[TaskSpan] = []
    in_order = sorted(debts, key=lambda debt: debt.number)
    for debt in in_order:
        start = debt.tail.tabled_or_gone
        prefix = _prefix(spans.get(debt.partition, ()), start, share)
        if prefix:
            last = prefix[-1]
            end, latest = last.span.last_offset + 1, last.running_max_timestamp_ms
            ranges.append(PlannedRange(debt.partition, debt.number, start, end, latest))
            taken += [TaskSpan(debt.number, max(start, each.span.base_offset), each.span) for each in prefix]
    table = debts[0].table
    assert table is not None, "topics without a table are not due"
    return PlannedJob(
        topic=debts[0].topic,
        table=table,
        ranges=tuple(ranges),
        tasks=_cut(taken, limits),
        bytes=_bytes(taken),
        reaches_end=[each.end for each in ranges] == [debt.tail.next_offset for debt in in_order],
    )


def _share(owed: Sequence[int], bytes_max: int) -> int:
    """What each may bring at most, so that all together stay within the bound: who owes less leaves the rest to the
    others."""
    left = bytes_max
    for at, bytes in enumerate(sorted(owed)):
        equal = left // (len(owed) - at)
        if bytes > equal:
            return equal
        left -= bytes
    return bytes_max


def _prefix(spans: Sequence[UntabledSpan], start: int, bytes_max: int) -> list[UntabledSpan]:
    """The first spans from `start` on that follow one another without a gap, until there are enough."""
    prefix: list[UntabledSpan] = []
    total, expected = 0, start
    for each in spans:
        if each.span.last_offset < start:
            continue
        if each.span.base_offset > expected or (prefix and total + each.span.length > bytes_max):
            break
        prefix.append(each)
        total += each.span.length
        expected = each.span.last_offset + 1
    return prefix


def _cut(spans: Sequence[TaskSpan], limits: PlanLimits) -> tuple[tuple[TaskSpan, ...], ...]:
    """Tasks of about equal size: as few as the bound allows, or as many as can run at once."""
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

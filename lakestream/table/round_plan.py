"""Plans a round: reads what the due topics owe, brings in the topics that transactions join them to, and plans jobs.

    due debts -> spans -> tails -> ended transactions -> topics that these join -> their spans ... -> jobs

The tails are read after the spans: a transaction may have begun since the debts were read, and its records are among
the spans. Ended transactions are read after the tails: all that are aborted below a last stable offset are among them.

Topics that wait for others are remembered here, so that nobody waits for ever (compaction/joined_topics.py).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.model.job import Debt, UntabledSpan
from lakestream.model.topic import PartitionId, TopicId
from lakestream.model.transaction import EndedTransaction
from lakestream.storage.wal.mover import Mover
from lakestream.table.compaction.plan import PlanLimits, PlannedJob, plan_jobs
from lakestream.world.clock import Clock

STEPS_MAX = 8
"""A topic that comes in may bring others, so many times. What is joined farther away waits for a later round."""


class RoundPlan:
    def __init__(
        self,
        *,
        store: MetadataStore,
        mover: Mover,
        limits: PlanLimits,
        parallel: Callable[[], int] | None,
        clock: Clock,
    ) -> None:
        self._store = store
        self._mover = mover
        self._limits = limits
        self._parallel = parallel
        self._clock = clock
        self._waiting_since: dict[TopicId, float] = {}
        self._parted: set[TopicId] = set()

    def part(self, topics: Iterable[TopicId]) -> None:
        """A job of one of these failed, and with it the commit of all: they move on their own until a job of theirs is
        committed."""
        self._parted.update(topics)

    def committed(self, topic: TopicId) -> None:
        self._parted.discard(topic)

    async def plan(
        self, due: Sequence[Debt], debts: Sequence[Debt], *, resting: Collection[TopicId]
    ) -> list[PlannedJob]:
        """Jobs for due topics, and for those that transactions join them to. `debts`: all there are. `resting`: topics
        that have no job now because their last one failed."""
        if not due:
            return []
        # The debts were read before, so all that they count lies in objects afterwards.
        await self._mover.move_until(await self._store.now_ms())
        self._parted &= {debt.topic for debt in debts}
        due = list(due)
        others = {
            debt.partition: debt
            for debt in debts
            if debt.table is not None and debt.topic not in resting and debt.topic not in {one.topic for one in due}
        }
        spans: dict[PartitionId, tuple[UntabledSpan, ...]] = {}
        added: Sequence[Debt] = due
        ended: list[EndedTransaction] = []
        tails: Mapping[PartitionId, PartitionSize] = {}
        topics_left = self._limits.joined_topics_max
        for _ in range(STEPS_MAX):
            spans |= await self._store.jobs.untabled_spans(
                [debt.partition for debt in added], self._limits.spans_each_max(len(due))
            )
            tails = await self._store.tails([debt.partition for debt in due])
            until = {id: own[-1].span.last_offset + 1 for id, own in spans.items() if own}
            ended = await self._store.transactions.ended(until, [debt.partition for debt in debts])
            joined = sorted({others[part.partition].topic for part in ended if part.partition in others})
            chosen = set(joined[:topics_left])
            if not chosen:
                break
            topics_left -= len(chosen)
            added = [debt for debt in others.values() if debt.topic in chosen]
            due += added
            others = {id: debt for id, debt in others.items() if debt.topic not in chosen}
        due = _as_of(tails, due)
        apart = {
            debt.partition
            for debt in debts
            if debt.table is None or debt.topic in resting or debt.topic in self._parted
        }
        jobs = plan_jobs(
            due,
            spans,
            self._limits if self._parallel is None else self._limits.for_workers(self._parallel()),
            short=await self._is_short(due),
            ended=ended,
            waited_ms=self._waited_ms(),
            alone=apart,
        )
        self._remember_waiting({debt.topic for debt in due} - {job.topic for job in jobs})
        return jobs

    def _waited_ms(self) -> dict[TopicId, int]:
        now = self._clock.monotonic()
        return {topic: int(1000 * (now - since)) for topic, since in self._waiting_since.items()}

    def _remember_waiting(self, waiting: Collection[TopicId]) -> None:
        now = self._clock.monotonic()
        self._waiting_since = {topic: self._waiting_since.get(topic, now) for topic in waiting}

    async def _is_short(self, due: Sequence[Debt]) -> bool:
        """Returns whether a fast topic exists. A small round is short anyway, so the topics are not read for it."""
        if sum(debt.bytes for debt in due) <= self._limits.short_round_bytes_max:
            return False
        topics = (await self._store.topics()).topics
        return any(typed_topic_config(topic.config).freshness.is_fast for topic in topics)


def _as_of(tails: Mapping[PartitionId, PartitionSize], debts: Iterable[Debt]) -> list[Debt]:
    """The debts with these tails. What came after the debts were read is not owed yet. A topic that was deleted
    meanwhile has no tail, and owes nothing."""
    return [
        debt._replace(tail=tails[debt.partition].tail._replace(next_offset=debt.tail.next_offset))
        for debt in debts
        if debt.partition in tails
    ]

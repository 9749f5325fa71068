"""How far tables lag behind their topics. The metadata store knows it, even while no pipeline runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakestream.metadata.store import MetadataStore
from lakestream.model.freshness import DEFAULT_FRESHNESS, Freshness
from lakestream.model.job import Debt
from lakestream.model.place import Tail
from lakestream.model.topic import TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLag:
    topic: str
    records: int
    """How many records are not in the table yet."""
    bytes: int
    """Their bytes in the WAL."""
    seconds: float
    """How long the oldest of them has waited."""
    spans: int
    freshness: Freshness
    """What the topic promises."""

    @property
    def is_late(self) -> bool:
        """Whether the table is further behind than its topic promises."""
        return self.seconds > self.freshness.late_seconds


class TableLags:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def longest_first(self) -> list[TableLag]:
        """The lag of every lagging topic, the longest wait first."""
        debts = await self._store.jobs.debts()
        names = {topic.id: topic.name for topic in (await self._store.topics()).topics} if debts else {}
        return lags_of(debts, names, now_ms=await self._store.now_ms())


def lags_of(debts: Iterable[Debt], names: Mapping[TopicId, str], *, now_ms: int) -> list[TableLag]:
    """The lag of every lagging topic, the longest wait first."""
    lags = [
        table_lag(names[topic], own[0].freshness, [debt.tail for debt in own], own, now_ms=now_ms)
        for topic, own in debts_by_topic(debts).items()
        if topic in names
    ]
    return sorted(lags, key=lambda lag: (-lag.seconds, lag.topic))


def debts_by_topic(debts: Iterable[Debt]) -> dict[TopicId, list[Debt]]:
    found: dict[TopicId, list[Debt]] = {}
    for debt in debts:
        found.setdefault(debt.topic, []).append(debt)
    return found


def table_lag(
    topic: str, freshness: Freshness | None, tails: Iterable[Tail], debts: Sequence[Debt], *, now_ms: int
) -> TableLag:
    """`freshness` is what the topic's config says. `tails` and `debts` are those of the topic's partitions."""
    oldest_ms = min((debt.oldest_ms for debt in debts), default=now_ms)
    return TableLag(
        topic=topic,
        records=sum(tail.untabled for tail in tails),
        bytes=sum(debt.bytes for debt in debts),
        seconds=max(0, now_ms - oldest_ms) / 1000,
        spans=sum(debt.spans for debt in debts),
        freshness=freshness or DEFAULT_FRESHNESS,
    )

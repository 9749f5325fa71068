"""Progress of compaction for each topic, and requests to compact now.

goal = CompactionGoal.of(await requests.ask(["orders"]))
goal.left(await requests.progress())      0: everything that was in the topics then is in their tables
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.administration.pipeline import Pipelines, PipelineState
from lakestream.metadata.store import MetadataStore
from lakestream.model.place import Tail
from lakestream.model.topic import Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProgress:
    name: str
    tails: Mapping[int, Tail]
    """By partition number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionProgress:
    pipeline: PipelineState
    topics: tuple[TopicProgress, ...]

    @property
    def tails(self) -> dict[tuple[str, int], Tail]:
        """By topic and partition number."""
        return {(topic.name, number): tail for topic in self.topics for number, tail in topic.tails.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionGoal:
    """The ends of partitions when compaction was requested. Later records do not count, nor do open transactions."""

    ends: Mapping[tuple[str, int], int]
    """Ends of the partitions that were behind."""
    records: int
    """How many records were not in their tables then."""

    @classmethod
    def of(cls, asked: CompactionProgress) -> "CompactionGoal":
        ends = {
            place: tail.last_stable for place, tail in asked.tails.items() if tail.last_stable > tail.tabled_or_gone
        }
        return cls(ends=ends, records=sum(end - asked.tails[place].tabled_or_gone for place, end in ends.items()))

    def left(self, now: CompactionProgress) -> int:
        """Records that are still not in their tables. A topic that was deleted meanwhile has none."""
        tails = now.tails
        return sum(max(0, end - tails[place].tabled_or_gone) for place, end in self.ends.items() if place in tails)


class CompactionRequests:
    def __init__(self, store: MetadataStore, pipelines: Pipelines) -> None:
        self._store = store
        self._pipelines = pipelines

    async def progress(self) -> CompactionProgress:
        """The progress of all topics."""
        return await self._progress((await self._store.topics()).topics)

    async def ask(self, names: Sequence[str] | None) -> CompactionProgress:
        """Request compaction of these topics, or of all. Returns their earlier progress. Raises UnknownTopic."""
        topics = await named_topics(self._store, names)
        found = await self._progress(topics)
        await self._store.jobs.ask_compaction([topic.id for topic in topics])
        return found

    async def _progress(self, topics: Sequence[Topic]) -> CompactionProgress:
        sizes = await self._store.tails([partition for topic in topics for partition in topic.partitions])
        return CompactionProgress(
            pipeline=await self._pipelines.state(),
            topics=tuple(
                TopicProgress(
                    name=topic.name,
                    tails={
                        number: sizes[partition].tail
                        for number, partition in enumerate(topic.partitions)
                        if partition in sizes  # otherwise it was deleted between the two reads
                    },
                )
                for topic in topics
            ),
        )

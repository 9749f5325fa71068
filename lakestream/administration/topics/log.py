"""Tell readers without a broker where a topic's records lie: in which spans of table files and WAL segments.

    log = await logs.log("orders")                         the extent of each partition, and the contract of its values
    found = await logs.spans("orders", 0, start, end)      the first spans of a range; ask again from `found.until` on

Readers get the bytes from the object store themselves. An object that a span names stays for the grace
(`wal.grace_ms`) after nothing refers to it any more; a reader that comes later asks for the spans again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.next_contract import next_contract
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.contract.topic.value_config import value_config_of
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import Unavailable, UnknownPartition
from lakestream.model.place import FileSpan, Span, is_inline
from lakestream.model.topic import PartitionId, Topic
from lakestream.model.transaction import AbortedRange

SPANS_MAX = 2_000
"""The most spans of one answer. A partition that no pipeline compacts gathers many."""
INLINE_BYTES_MAX = 4 * 1024 * 1024
"""The most bytes of records that go with one answer, because they lie in the metadata store itself."""
LOOKS_MAX = 5
"""Inline bytes may move into an object between the two reads of an answer. Then both reads are repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionExtents:
    """Offsets [start, end) of a partition that can be read: no open transaction has records below the end."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLog:
    topic: Topic
    objects_url: str
    partitions: tuple[PartitionExtents, ...]
    contract: TopicContract
    """For all records of the topic, also those that are not in the table yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansFound:
    start: int
    """The partition's first offset now: records below it were deleted."""
    end: int
    """The end of what can be read now."""
    until: int
    """The spans cover the range up to here."""
    spans: tuple[Span | FileSpan, ...]
    inline: Mapping[Span, bytes]
    """The bytes of the spans that lie in the metadata store, which their readers cannot reach."""
    aborted: tuple[AbortedRange, ...]
    """Aborted transactions whose records lie in the spans of the WAL."""


class TopicLogs:
    def __init__(
        self, store: MetadataStore, files: MetadataFiles, growing: GrowingContracts, *, objects_url: str
    ) -> None:
        self._store = store
        self._files = files
        self._growing = growing
        self._objects_url = objects_url

    async def log(self, name: str) -> TopicLog:
        """Raises UnknownTopic, DamagedTable."""
        topic = await self._topic(name)
        tails = await self._store.tails(topic.partitions)
        return TopicLog(
            topic=topic,
            objects_url=self._objects_url,
            partitions=tuple(
                PartitionExtents(number=number, start=tails[id].tail.log_start, end=tails[id].tail.last_stable)
                for number, id in enumerate(topic.partitions)
                if id in tails  # otherwise it was deleted between the two reads
            ),
            contract=await self._contract(topic),
        )

    async def spans(self, name: str, number: int, start: int, end: int) -> SpansFound:
        """Spans that hold offsets in [start, end), at most SPANS_MAX. Raises UnknownTopic, UnknownPartition."""
        ask = ViewAsk(await self._partition(name, number), start, SPANS_MAX)
        for _ in range(LOOKS_MAX):
            view = (await self._store.views([ask]))[0]
            if view is None:
                raise _unknown_partition(name, number)
            stable = view.tail.last_stable
            goal = min(end, stable)
            within = [span for span in view.spans if span.base_offset < goal]
            spans = _with_bounded_inline(within)
            is_whole = len(spans) == len(within) and (len(within) < len(view.spans) or len(within) < SPANS_MAX)
            until = goal if is_whole else min(goal, spans[-1].last_offset + 1)
            if (inline := await self._inline(spans)) is not None:
                return SpansFound(
                    start=view.tail.log_start,
                    end=stable,
                    until=until,
                    spans=tuple(spans),
                    inline=inline,
                    aborted=view.aborted,
                )
        raise Unavailable(f"the newest records of topic '{name}' are being moved: ask again")

    async def span_at_time(self, name: str, number: int, timestamp_ms: int) -> Span | FileSpan | None:
        """The first span with a record of this time or a later one. Raises UnknownTopic, UnknownPartition."""
        return await self._store.span_at_time(await self._partition(name, number), timestamp_ms)

    async def _inline(self, spans: Sequence[Span | FileSpan]) -> dict[Span, bytes] | None:
        """The bytes of inline spans. None if some have moved since the spans were read."""
        inline = [span for span in spans if isinstance(span, Span) and is_inline(span.segment)]
        segments = list(dict.fromkeys(span.segment for span in inline))
        found = await self._store.inline.read(segments) if segments else {}
        if len(found) < len(segments):
            return None
        return {span: found[span.segment][span.at : span.at + span.length] for span in inline}

    async def _topic(self, name: str) -> Topic:
        return (await named_topics(self._store, [name]))[0]

    async def _partition(self, name: str, number: int) -> PartitionId:
        partitions = (await self._topic(name)).partitions
        if not 0 <= number < len(partitions):
            raise _unknown_partition(name, number)
        return partitions[number]

    async def _contract(self, topic: Topic) -> TopicContract:
        config = value_config_of(topic.name, topic.config)
        pointer = await self._store.tables.table_of_topic(topic.id)
        metadata = {} if pointer is None else (await self._files.read(pointer.metadata_location)).metadata
        contract = await next_contract(metadata.get("properties") or {}, config, self._growing)
        return (await self._growing.with_registered(contract, config)).as_written


def _with_bounded_inline(spans: Sequence[Span | FileSpan]) -> list[Span | FileSpan]:
    """The first spans, of which at most INLINE_BYTES_MAX lie inline; at least one."""
    taken: list[Span | FileSpan] = []
    size = 0
    for span in spans:
        size += span.length if isinstance(span, Span) and is_inline(span.segment) else 0
        if taken and size > INLINE_BYTES_MAX:
            break
        taken.append(span)
    return taken


def _unknown_partition(name: str, number: int) -> UnknownPartition:
    return UnknownPartition(f"topic '{name}' has no partition {number}: `lakestream topic describe {name}` shows them")

"""The audit: reads the whole index as it is and checks what must hold at any moment.

log_start, tabled_until <= next_offset, none ever falls   spans cover every live offset once, in order
what is in the table lies before what is not              and where tabled_until says
every referenced object exists                 records go only where someone or a retention asked for it
"""

from itertools import pairwise
from typing import NamedTuple

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span, Tail, is_inline
from lakestream.model.topic import PartitionId, Topic
from lakestream.model.transaction import is_marker
from lakestream.storage.wal.segment import segment_key
from lakestream.world.objects.memory import MemoryObjects

from .verdict import Verdict

ALL_SPANS = 1_000_000


class Seen(NamedTuple):
    """A partition as one read of the store shows it, with all of its spans."""

    topic: Topic
    partition: PartitionId
    view: PartitionView
    bytes: int


async def all_partitions(store: MetadataStore) -> list[Seen]:
    homes = [(topic, partition) for topic in (await store.topics()).topics for partition in topic.partitions]
    views = await store.views([ViewAsk(partition, 0, ALL_SPANS) for _, partition in homes])
    sizes = await store.tails([partition for _, partition in homes])
    return [
        Seen(topic, partition, view, sizes[partition].bytes)
        for (topic, partition), view in zip(homes, views, strict=True)
        if view is not None
    ]


async def referenced_segments(store: MetadataStore) -> set[SegmentId]:
    """Segments that some span lies in."""
    return {span.segment for seen in await all_partitions(store) for span in seen.view.spans if isinstance(span, Span)}


class Audit:
    def __init__(
        self,
        store: MetadataStore,
        objects: MemoryObjects,
        verdict: Verdict,
        deletions_asked: dict[PartitionId, int],
        retained: set[str],
    ) -> None:
        """`deletions_asked` (by partition) and `retained` (topics by name) tell which records may go."""
        self._store = store
        self._objects = objects
        self._verdict = verdict
        self._deletions_asked = deletions_asked
        self._retained = retained
        self._tails: dict[PartitionId, Tail] = {}

    async def look(self) -> None:
        seen_partitions = await all_partitions(self._store)
        sizes = {info.key: info.bytes async for info in self._objects.list("")}
        sizes |= await self._inline_sizes(seen_partitions)
        for seen in seen_partitions:
            self._check_tail(seen)
            self._check_cover(seen.partition, seen.view)
            self._check_objects(seen.partition, seen.view, sizes)
            counted = sum(span.length for span in seen.view.spans)
            self._verdict.holds(
                counted == seen.bytes, "a partition counts its bytes", seen.partition, counted, seen.bytes
            )

    async def _inline_sizes(self, seen_partitions: list[Seen]) -> dict[str, int]:
        """Sizes of the inline segments that spans lie in, by the keys that they would have as objects. Others hold
        nothing: the store frees them with their last span."""
        segments = {
            span.segment
            for seen in seen_partitions
            for span in seen.view.spans
            if isinstance(span, Span) and is_inline(span.segment)
        }
        found = await self._store.inline.read(sorted(segments))
        at_rest = await self._store.inline.at_rest()
        self._verdict.holds(at_rest.segments == len(segments), "inline bytes go with their last span", at_rest)
        return {segment_key(segment): len(data) for segment, data in found.items()}

    def _check_tail(self, seen: Seen) -> None:
        partition, tail = seen.partition, seen.view.tail
        before = self._tails.get(partition, tail)
        rises = all(
            now >= then
            for now, then in zip(
                (tail.log_start, tail.next_offset, tail.tabled_until, tail.last_stable),
                (before.log_start, before.next_offset, before.tabled_until, before.last_stable),
                strict=True,
            )
        )
        self._verdict.holds(rises, "the tail never falls", partition, before, "then", tail)
        self._verdict.holds(0 <= tail.log_start <= tail.next_offset, "log_start <= next_offset", partition, tail)
        self._verdict.holds(tail.tabled_until <= tail.last_stable, "tabled_until <= last_stable", partition, tail)
        by_retention = seen.topic.name in self._retained
        start_max = tail.next_offset if by_retention else self._deletions_asked.get(partition, 0)
        self._verdict.holds(tail.log_start <= start_max, "records go only when asked", partition, tail, start_max)
        self._tails[partition] = tail

    def _check_cover(self, partition: PartitionId, view: PartitionView) -> None:
        tail, spans = view.tail, view.spans
        if tail.log_start == tail.next_offset:
            self._verdict.holds(not spans, "spans below log_start are dropped", partition, view)
            return
        covers = bool(spans) and spans[0].base_offset <= tail.log_start <= spans[0].last_offset
        covers = covers and spans[-1].last_offset + 1 == tail.next_offset
        joined = all(before.last_offset + 1 == after.base_offset for before, after in pairwise(spans))
        self._verdict.holds(covers and joined, "spans cover every live offset once", partition, view)
        border = all(isinstance(span, FileSpan) == (span.last_offset < tail.tabled_until) for span in spans)
        border = border and all(span.base_offset >= tail.tabled_until for span in spans if isinstance(span, Span))
        self._verdict.holds(border, "what is tabled lies below tabled_until, all else above", partition, view)

    def _check_objects(self, partition: PartitionId, view: PartitionView, sizes: dict[str, int]) -> None:
        for span in view.spans:
            if isinstance(span, FileSpan) or is_marker(span.segment):
                continue  # tables/examiner.py looks at files; a marker has no bytes of its own
            size = sizes.get(segment_key(span.segment))
            self._verdict.holds(size is not None, "every referenced object exists", span.segment, "of", partition)
            inside = size is None or span.at + span.length <= size
            self._verdict.holds(inside, "a span lies within its object", span, size)

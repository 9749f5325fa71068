"""After the storm: what the log holds, what time finds in it, and what is left of the garbage."""

import random
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TypeVar

from lakestream.metadata.store import MetadataStore
from lakestream.model.place import Span, Tail
from lakestream.model.segment import Committed
from lakestream.model.topic import PartitionId
from lakestream.storage.wal.segment import WAL_PREFIX, Receipt, segment_of_key
from lakestream.world.objects.memory import MemoryObjects

from .audit import Seen, all_partitions, referenced_segments
from .consumer import Follower
from .ledger import Ledger, Read
from .site import Site
from .verdict import Verdict
from .witness import Witness

T = TypeVar("T")

LOOKUPS_PER_PARTITION = 5
NO_RECORD = (-1, -1)


class Aftermath:
    def __init__(
        self,
        *,
        store: MetadataStore,
        objects: MemoryObjects,
        site: Site,
        ledger: Ledger,
        witness: Witness,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        self._store = store
        self._objects = objects
        self._site = site
        self._ledger = ledger
        self._witness = witness
        self._verdict = verdict
        self._rng = rng

    # --- the log ---------------------------------------------------------------------------------

    async def judge(self, followers: Sequence[Follower]) -> None:
        """What each consumer has read, over all that is retained, against all that was acknowledged."""
        for follower in followers:
            for partition, reads in follower.reads.items():
                tail = await self._tail(partition)
                if _reaches_back(reads, tail):
                    self._ledger.whole(partition, tail.log_start, tail.next_offset, _retained(reads, tail))
                    await self._check_times(partition, reads)

    async def _check_times(self, partition: PartitionId, reads: Sequence[Read]) -> None:
        """Lookups by time against a search through everything."""
        offsets = self._rng.choice([self._site.running[id] for id in sorted(self._site.running)]).process.offsets
        times = [read.timestamp for read in reads] or [0]
        for asked in [self._rng.choice(times) + self._rng.choice([-1, 0, 0, 1]) for _ in range(LOOKUPS_PER_PARTITION)]:
            tail, found = await self._look_up(partition, partial(offsets.at_time, partition, asked))
            expected = next((record for record in _records(reads, tail) if record[1] >= asked), NO_RECORD)
            self._verdict.holds(found == expected, "lookups by time are exact", partition, asked, tail, found, expected)
        tail, found = await self._look_up(partition, partial(offsets.at_max_timestamp, partition))
        expected = max(_records(reads, tail), key=lambda record: (record[1], -record[0]), default=NO_RECORD)
        self._verdict.holds(found == expected, "the latest record is found", partition, tail, found, expected)

    async def _look_up(self, partition: PartitionId, lookup: Callable[[], Awaitable[T]]) -> tuple[Tail, T]:
        """What was found, and the tail: retention goes on meanwhile, so ask again if it moved."""
        while True:
            before = await self._tail(partition)
            found = await lookup()
            if before == await self._tail(partition):
                return before, found

    async def _tail(self, partition: PartitionId) -> Tail:
        return (await self._store.tails([partition]))[partition].tail

    # --- garbage ---------------------------------------------------------------------------------

    async def no_garbage_is_left(self) -> None:
        """Whatever object is still there is read from, or holds receipts of one that is."""
        referenced = await referenced_segments(self._store)
        async for info in self._objects.list(WAL_PREFIX):
            segment = segment_of_key(info.key) or ""
            needed = segment in referenced or await self._witness.receipted({segment}) & referenced
            self._verdict.holds(bool(needed), "dead segments go within their grace", segment)

    async def receipts_are_written(self) -> None:
        """The bucket alone can rebuild the log: what a living broker committed is receipted by now, place and all."""
        living = {running.life.name for running in self._site.running.values()}
        everything = {segment_of_key(info.key) or "" async for info in self._objects.list(WAL_PREFIX)}
        written = await self._witness.receipts(everything)
        missing = [
            receipt
            for seen in await all_partitions(self._store)
            for receipt in _receipts_of(seen)
            if self._witness.committed_by[receipt.segment] in living and not _is_told(receipt, written)
        ]
        self._verdict.holds(not missing, "commits are receipted", missing[:5])

    async def nothing_is_left(self) -> None:
        left = [info.key async for info in self._objects.list(WAL_PREFIX)]
        self._verdict.holds(not left, "nothing outlives its topic", left[:5])
        committed = [segment for segment, fate in self._witness.fates.items() if isinstance(fate, Committed)]
        rows = set(committed) - set(await self._store.unknown_segments(committed))
        self._verdict.holds(not rows, "dead rows go with their objects", sorted(rows)[:5])


def _is_told(receipt: Receipt, written: AbstractSet[Receipt]) -> bool:
    """Whether a receipt says it. One of moved bytes may tell of more: of records that were deleted meanwhile."""
    return receipt in written or any(
        told.segment == receipt.segment
        and told[1:3] == receipt[1:3]
        and told.append_ms == receipt.append_ms
        and told.base_offset <= receipt.base_offset
        and receipt.base_offset + receipt.records <= told.base_offset + told.records
        and told.at <= receipt.at
        and receipt.at + receipt.length <= told.at + told.length
        for told in written
    )


def _receipts_of(seen: Seen) -> list[Receipt]:
    """What tells of the partition's spans that are in the WAL."""
    number = seen.topic.partitions.index(seen.partition)
    return [
        Receipt(
            segment=span.segment,
            topic_id=seen.topic.id,
            partition=number,
            at=span.at,
            length=span.length,
            base_offset=span.base_offset,
            records=span.last_offset - span.base_offset + 1,
            append_ms=span.append_ms,
        )
        for span in seen.view.spans
        if isinstance(span, Span)
    ]


def _records(reads: Sequence[Read], tail: Tail) -> list[tuple[int, int]]:
    """Offset and time of every record that is retained."""
    return [(read.offset, read.timestamp) for read in _retained(reads, tail)]


def _retained(reads: Sequence[Read], tail: Tail) -> list[Read]:
    return [read for read in reads if read.offset >= tail.log_start]


def _reaches_back(reads: Sequence[Read], tail: Tail) -> bool:
    """Whether this consumer read all that is retained; one whose position was reset may have begun later."""
    return tail.log_start == tail.next_offset or (bool(reads) and reads[0].offset <= tail.log_start)

"""The index of this broker: views read from the store; the newest is kept and extended by the broker's own commits.

Tail and spans of a view come from one read and are never mixed in age. A kept view is the tail of a partition as the
store once returned it. Commits of this broker that follow on seamlessly are added to it, since a commit's own offsets
prove that nothing lies between. A kept view may be out of date, so nothing negative (out of range, no records) is ever
concluded from it: `fresh` asks the store.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import LakestreamError
from lakestream.model.place import FileSpan, PartitionView, Span
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

VIEW_SPANS_MAX = 64
"""Spans requested in one read: a fetch of 50 MB over 8 MiB segments needs seven, small flushes more."""
KEPT_SPANS_MAX = 512
KEPT_VIEWS_MAX = 20_000
KEPT_SECONDS_MAX = 1.0
"""A kept view is read again from the store after this long, so that deletions by other brokers are noticed soon."""


class _Kept:
    __slots__ = ("aborted", "read_at", "spans", "tail")

    def __init__(self, view: PartitionView, read_at: float) -> None:
        self.tail = view.tail
        self.spans = list(view.spans)
        self.aborted = view.aborted
        self.read_at = read_at


class Index:
    def __init__(self, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock
        self._kept: OrderedDict[PartitionId, _Kept] = OrderedDict()
        self._asked: dict[ViewAsk, asyncio.Future[PartitionView | None]] = {}
        self._reading = False

    def kept(self, partition: PartitionId, offset: int) -> PartitionView | None:
        """The kept view, if it is young and holds `offset` (below its end)."""
        kept = self._kept.get(partition)
        if kept is None or not kept.spans or not kept.spans[0].base_offset <= offset < kept.tail.next_offset:
            return None
        if self._is_old(kept):
            return None
        self._kept.move_to_end(partition)
        spans = tuple(kept.spans[_position(kept.spans, offset) :])
        if not kept.aborted:
            return PartitionView(kept.tail, spans)
        return PartitionView(kept.tail, spans, tuple(each for each in kept.aborted if each.last_offset >= offset))

    async def fresh(self, partition: PartitionId, offset: int) -> PartitionView | None:
        """The view as the store has it at the time of this call or later. None: no such partition.

        Calls made in the same turn of the event loop share one read.
        """
        ask = ViewAsk(partition, offset, VIEW_SPANS_MAX)
        waiting = self._asked.get(ask)
        if waiting is None:
            waiting = asyncio.get_running_loop().create_future()
            self._asked[ask] = waiting
            if not self._reading:
                self._reading = True
                self._tasks.spawn(self._read_asked(), name="index-read")
        return await asyncio.shield(waiting)

    def extend(self, partition: PartitionId, spans: Sequence[Span], unstable_from: int | None = None) -> None:
        """Add the spans of an own commit, in offset order, if they follow the kept view seamlessly. `unstable_from` is
        the first offset among them that a transaction wrote. The transaction is open at least until its marker comes,
        and the marker takes an offset: then the next commit does not follow seamlessly."""
        kept = self._kept.get(partition)
        if kept is None:
            return
        if spans[0].base_offset != kept.tail.next_offset:
            if spans[-1].last_offset >= kept.tail.next_offset:
                del self._kept[partition]
            return
        kept.spans.extend(spans)
        del kept.spans[:-KEPT_SPANS_MAX]
        kept.tail = kept.tail._replace(next_offset=spans[-1].last_offset + 1)
        if unstable_from is not None and kept.tail.unstable_from is None:
            kept.tail = kept.tail._replace(unstable_from=unstable_from)

    def forget(self, partition: PartitionId) -> None:
        self._kept.pop(partition, None)

    async def _read_asked(self) -> None:
        await asyncio.sleep(0)  # let other callers of this turn join
        asked, self._asked, self._reading = self._asked, {}, False
        read_at = self._clock.monotonic()
        try:
            views = await self._store.views(list(asked))
        except LakestreamError as error:
            for waiting in asked.values():
                waiting.set_exception(error)
                waiting.exception()  # mark it as retrieved, even if every caller has gone
            return
        for (ask, waiting), view in zip(asked.items(), views, strict=True):
            self._keep(ask.partition, view, read_at)
            waiting.set_result(view)

    def _keep(self, partition: PartitionId, view: PartitionView | None, read_at: float) -> None:
        """Keep a view that reaches the end of the log, in place of an older one: whole, never merged."""
        if view is None:
            self.forget(partition)
            return
        kept = self._kept.get(partition)
        if kept is not None and kept.tail.next_offset >= view.tail.next_offset and not self._is_old(kept):
            return  # the kept view reaches as far or further, through own commits, and begins earlier
        if not view.spans or view.spans[-1].last_offset + 1 == view.tail.next_offset:
            self._kept[partition] = _Kept(view, read_at)
            self._kept.move_to_end(partition)
            if len(self._kept) > KEPT_VIEWS_MAX:
                self._kept.popitem(last=False)

    def _is_old(self, kept: _Kept) -> bool:
        return self._clock.monotonic() - kept.read_at > KEPT_SECONDS_MAX


def _position(spans: Sequence[Span | FileSpan], offset: int) -> int:
    """The first span that ends at or above `offset`."""
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle].last_offset < offset:
            low = middle + 1
        else:
            high = middle
    return low

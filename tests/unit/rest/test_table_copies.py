"""The page of copies in the WAL: of one size, and not asked for anew at every scrape."""

import asyncio
from typing import Any, cast

from lakestream.administration.copies import TOLD_AGAIN_SECONDS, TableCopies
from lakestream.metadata.store import TopicsView
from lakestream.model.topic import Topic
from lakestream.protocol.rest.collectors.table_copies import TOPICS_MAX, table_copies_page
from tests.behaviour.metadata.stage import ShiftedClock

TOPICS = tuple(
    Topic(id=b"%016d" % at, name=f"t{at:03d}", partitions=(at,), config={}, created_ms=0) for at in range(150)
)


class Store:
    """One that only knows sizes; the last topic has most, and one was deleted meanwhile."""

    def __init__(self) -> None:
        self.asked = 0

    async def wal_copies(self) -> dict[bytes, int]:
        self.asked += 1
        return {b"deleted": 10**9, **{topic.id: 1 + at for at, topic in enumerate(TOPICS)}}

    async def topics(self) -> TopicsView:
        return TopicsView(1, TOPICS)


class Clock(ShiftedClock):
    def monotonic(self) -> float:
        return self.ahead_ms / 1000


def test_the_topics_that_have_most_are_named_and_the_store_is_asked_once_a_minute() -> None:
    async def scenario() -> None:
        store, clock = Store(), Clock()
        copies = TableCopies(cast(Any, store), clock)
        page = table_copies_page(await copies.bytes_in_wal_too()).decode()
        assert f"lakestream_table_bytes_in_wal_too {sum(range(151))}.0" in page
        named = [line for line in page.splitlines() if line.startswith("lakestream_table_topic_bytes_in_wal_too{")]
        assert len(named) == TOPICS_MAX
        assert named[0] == 'lakestream_table_topic_bytes_in_wal_too{topic="t149"} 150.0'
        assert table_copies_page(await copies.bytes_in_wal_too()).decode() == page
        assert store.asked == 1
        clock.ahead_ms += int(1000 * TOLD_AGAIN_SECONDS)
        await copies.bytes_in_wal_too()
        assert store.asked == 2

    asyncio.run(scenario())

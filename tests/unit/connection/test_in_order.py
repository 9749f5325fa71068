"""Requests without a task of their own that are still waited for by what follows. On both event loops."""

import asyncio
from dataclasses import replace

import pytest

from tests.unit.connection.frames import heartbeat_frame
from tests.unit.connection.serving import APIS, LOOPS, run, serving, until
from tests.unit.connection.test_server import produce

pytestmark = pytest.mark.parametrize("loop", list(LOOPS))


def test_what_starts_in_order_is_waited_for_by_what_follows(loop: str) -> None:
    """OffsetCommit: a request that comes right after it may read what it wrote."""
    in_order = replace(APIS[0], in_order=True)

    async def main() -> None:
        async with serving(apis=[in_order, *APIS[1:]]) as it:
            client = await it.client()
            client.send(produce(1) + heartbeat_frame(2) + produce(3))
            await until(lambda: len(it.log.pending) == 1)
            await asyncio.sleep(0.02)
            assert it.log.story == ["produce 1"]
            it.log.finish()
            await until(lambda: len(it.log.pending) == 1)
            assert it.log.story == ["produce 1", "begin g", "end g", "produce 3"]
            it.log.finish()
            assert [await client.correlation_id() for _ in range(3)] == [1, 2, 3]

    run(loop, main())

"""Requests without a task of their own that are still waited for by what follows. On both event loops."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from lakestream.model.access import ANYONE
from lakestream.model.errors import NotCoordinator
from lakestream.protocol.kafka.api import Api, Later, RequestContext
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire import messages
from tests.unit.connection.frames import decoded_response, heartbeat_frame
from tests.unit.connection.requests import produce
from tests.unit.connection.serving import APIS, HEARTBEAT, LOOPS, heartbeat_error, run, serving, until

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


def start_heartbeat(request: Any, context: RequestContext) -> Later:
    """Answered when the test says so, with what is known then."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    context.broker.pending.append((done, request))
    return Later(done, respond)


def respond(done: "asyncio.Future[int]") -> Any:
    if isinstance(error := done.exception(), ConnectionError):
        raise NotCoordinator("it went away") from error
    return messages.api(HEARTBEAT).Response(error_code=done.result())


LATER = Api(
    key=HEARTBEAT,
    name="Heartbeat",
    versions=(0, 4),
    needs=ANYONE,
    start=start_heartbeat,
    in_order=True,
    error_response=heartbeat_error,
)


def test_a_response_made_later_says_what_came_of_it(loop: str) -> None:
    async def main() -> None:
        async with serving(apis=[LATER]) as it:
            client = await it.client()
            client.send(heartbeat_frame(1) + heartbeat_frame(2) + heartbeat_frame(3))
            for outcome in (27, ConnectionError("away"), 0):
                await until(lambda: len(it.log.pending) == 1)  # one after another: they are in order
                done, _ = it.log.pending.pop()
                done.set_exception(outcome) if isinstance(outcome, Exception) else done.set_result(outcome)
            answers = [decoded_response(HEARTBEAT, 4, await client.payload()).error_code for _ in range(3)]
            assert answers == [27, KafkaError.NOT_COORDINATOR, 0]

    run(loop, main())


def test_a_response_made_later_for_a_client_that_has_gone_hurts_nobody(loop: str) -> None:
    async def main() -> None:
        async with serving(apis=[LATER]) as it:
            gone = await it.client()
            gone.send(heartbeat_frame(1))
            await until(lambda: len(it.log.pending) == 1)
            gone.close()
            await until(lambda: it.metrics.counts["closed"] == 1)
            it.log.pending.pop()[0].set_exception(ConnectionError("away"))
            await asyncio.sleep(0.02)
            stays = await it.client()
            stays.send(heartbeat_frame(2))
            await until(lambda: len(it.log.pending) == 1)
            it.log.pending.pop()[0].set_result(0)
            assert await stays.correlation_id() == 2

    run(loop, main())

"""Sockets: order, overlap, faults, bounds, and an orderly end. On both event loops."""

import asyncio
import socket
import struct
from typing import Any

import pytest
from structlog.testing import capture_logs

from lakestream.model.access import ANYONE
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.kafka.api import Api, ApiTable, RequestContext
from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.rate_limited_log import LINES_MAX
from tests.unit.connection.frames import decoded_response, framed, heartbeat_frame, produce_frame, request_frame
from tests.unit.connection.requests import fetch, produce
from tests.unit.connection.serving import (
    APIS,
    HEARTBEAT,
    LOOPS,
    PRODUCE,
    heartbeat,
    run,
    serving,
    start_produce,
    until,
)

MIB = 1024 * 1024
pytestmark = pytest.mark.parametrize("loop", list(LOOPS))


def test_pipelined_produce_is_answered_in_order_however_it_finishes(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(b"".join(produce(at) for at in range(5)))
            await until(lambda: len(it.log.pending) == 5)
            for at in (4, 2, 2, 0, 0):
                it.log.finish(at)
                await asyncio.sleep(0)
            assert [await client.correlation_id() for _ in range(5)] == [0, 1, 2, 3, 4]
            assert it.log.story == [f"produce {at}" for at in range(5)]
            assert it.metrics.counts["Produce"] == 5

    run(loop, main())


def test_a_request_without_acks_gets_no_bytes(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(produce(1, acks=0) + produce(2))
            await until(lambda: len(it.log.pending) == 2)
            it.log.finish_all()
            assert await client.correlation_id() == 2
            assert it.inflight.held == 0

    run(loop, main())


def test_waits_of_produce_and_fetch_overlap_with_what_follows(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(produce(1) + fetch(2) + heartbeat_frame(3) + fetch(4))
            await until(lambda: it.log.story.count("fetch") == 2)
            assert it.log.story == ["produce 1", "begin g", "fetch", "end g", "fetch"] or it.log.story == [
                "produce 1",
                "fetch",
                "begin g",
                "end g",
                "fetch",
            ]
            it.log.fetch_waits.set()
            it.log.finish()
            assert [await client.correlation_id() for _ in range(4)] == [1, 2, 3, 4]

    run(loop, main())


def test_other_requests_run_one_after_another(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            it.log.heartbeat_waits.clear()
            client.send(heartbeat_frame(1, group="a") + heartbeat_frame(2, group="b") + produce(3, mode=1))
            await until(lambda: it.metrics.counts["Produce"] == 1)
            assert it.log.story == ["begin a"]
            it.log.heartbeat_waits.set()
            assert [await client.correlation_id() for _ in range(3)] == [1, 2, 3]
            assert it.log.story == ["begin a", "end a", "begin b", "end b", "produce 3"]

    run(loop, main())


def test_batches_enter_in_arrival_order_even_if_admission_waits(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(produce(1, mode=2) + produce(2) + produce(3, mode=2))
            await until(lambda: it.metrics.counts["Produce"] == 3)
            await asyncio.sleep(0.02)
            assert it.log.story == ["admitting 1"]
            it.log.admission_waits.set()
            await until(lambda: len(it.log.pending) == 3)
            assert it.log.story == ["admitting 1", "produce 1", "produce 2", "admitting 3", "produce 3"]
            it.log.finish_all()
            assert [await client.correlation_id() for _ in range(3)] == [1, 2, 3]

    run(loop, main())


def test_a_fault_in_a_handler_is_told_in_the_shape_of_the_api(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(heartbeat_frame(1, group="boom") + heartbeat_frame(2))
            assert decoded_response(HEARTBEAT, 4, await client.payload()).error_code == -1
            assert decoded_response(HEARTBEAT, 4, await client.payload()).error_code == 0
            assert it.metrics.counts["Heartbeat failed -1"] == 1

    run(loop, main())


@pytest.mark.parametrize(
    "poison",
    [
        pytest.param(request_frame(3, 1, messages.api(3).Request()), id="a fault without an error shape"),
        pytest.param(framed(struct.pack(">hhih", HEARTBEAT, 0, 1, -1) + b"\x7f\xff"), id="a truncated body"),
        pytest.param(framed(struct.pack(">hhih", 999, 0, 1, -1)), id="an unknown API"),
        pytest.param(struct.pack(">i", -5) + bytes(30), id="a negative length"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", id="another protocol"),
    ],
)
def test_a_bad_request_closes_its_connection_and_no_other(loop: str, poison: bytes) -> None:
    async def main() -> None:
        async with serving() as it:
            good, bad = await it.client(), await it.client()
            good.send(produce(1))
            await until(lambda: len(it.log.pending) == 1)
            bad.send(poison)
            assert await bad.is_closed_by_server()
            it.log.finish()
            assert await good.correlation_id() == 1
            good.send(heartbeat_frame(2))
            assert await good.correlation_id() == 2

    run(loop, main())


def test_a_connection_with_too_many_requests_is_not_read_and_loses_none(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_requests_max=8) as it:
            client = await it.client()
            client.send(b"".join(produce(at) for at in range(100)))
            answered: list[int] = []
            while len(answered) < 100:
                await until(lambda: len(it.log.pending) > 0)
                assert len(it.log.pending) <= 8
                it.log.finish()
                answered.append(await client.correlation_id())
            assert answered == list(range(100))
            assert it.metrics.counts["paused requests"] > 5

    run(loop, main())


def test_held_bytes_stay_under_their_bound_and_everyone_is_served(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=4 * MIB) as it:
            clients = [await it.client() for _ in range(8)]
            frames = [produce(at, records=bytes(size)) for at, size in enumerate((700_000, 1_000, 3 * MIB, 90_000))]
            for client in clients:
                client.send(b"".join(frames))
            served = 0
            while served < 8 * 4:
                await until(lambda: len(it.log.pending) > 0)
                frames_in_memory = sum(each._connection.unreleased_bytes for each in it.server._sessions)
                assert frames_in_memory == it.inflight.held
                served += len(it.log.pending)
                it.log.finish_all()
            assert 3 * MIB < it.inflight.highest <= (4 + 3 + 1) * MIB, "the bound, one frame, and a read of each"
            assert it.metrics.counts["paused bytes"] > 8
            for client in clients:
                assert [await client.correlation_id() for _ in range(4)] == [0, 1, 2, 3]

    run(loop, main())


def test_a_frame_above_the_whole_bound_is_served_when_nothing_else_is_held(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB) as it:
            large, small = await it.client(), await it.client()
            small.send(produce(1, records=bytes(8_000)))
            await until(lambda: len(it.log.pending) == 1)
            large.send(produce(2, records=bytes(5 * MIB)))
            await until(lambda: it.inflight.waiting == 1)
            small.send(produce(3, records=bytes(8_000)))
            await until(lambda: it.inflight.waiting == 2)
            it.log.finish()
            await until(lambda: it.log.story[-1] == "produce 2")
            it.log.finish()
            assert await large.correlation_id() == 2
            await until(lambda: it.log.story[-1] == "produce 3")
            it.log.finish()
            assert [await small.correlation_id() for _ in range(2)] == [1, 3]

    run(loop, main())


def test_readers_do_not_wait_because_producers_do(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB) as it:
            first, second, reader = await it.client(), await it.client(), await it.client()
            first.send(produce(1, records=bytes(900_000)))
            await until(lambda: len(it.log.pending) == 1)
            second.send(produce(2, records=bytes(900_000)))
            await until(lambda: it.inflight.waiting == 1)
            reader.send(heartbeat_frame(3))
            assert await reader.correlation_id() == 3
            it.log.finish()
            await until(lambda: len(it.log.pending) == 1)
            it.log.finish()
            assert [await first.correlation_id(), await second.correlation_id()] == [1, 2]

    run(loop, main())


def test_a_frame_that_has_begun_goes_on_before_new_ones_enter(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB) as it:
            served, slow, other = await it.client(), await it.client(), await it.client()
            frame = produce(1, records=bytes(900_000))
            slow.send(frame[:200_000])
            await until(lambda: it.inflight.held > 0)
            served.send(produce(0, records=bytes(500_000)))
            await until(lambda: len(it.log.pending) == 1)
            slow.send(frame[200_000:])
            await until(lambda: it.inflight.waiting == 1)
            other.send(produce(2, records=bytes(500_000)))
            await until(lambda: it.inflight.waiting == 2)
            it.log.finish()
            await until(lambda: it.log.story[-1] == "produce 1")
            it.log.finish()
            assert await slow.correlation_id() == 1
            await until(lambda: it.log.story[-1] == "produce 2")
            it.log.finish()
            assert await other.correlation_id() == 2

    run(loop, main())


def test_bytes_in_use_are_held_after_their_client_has_gone(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(
                produce(1, records=bytes(100_000)) + produce(2, mode=2, records=bytes(8_000)) + heartbeat_frame(3)
            )
            await until(lambda: it.metrics.counts["Heartbeat"] == 1)
            client.close()
            await until(lambda: it.server.connections == 0)
            assert 108_000 < it.inflight.held < 108_500
            it.log.finish()
            await until(lambda: it.inflight.held < 8_500)
            it.log.admission_waits.set()
            await until(lambda: len(it.log.pending) == 1)
            assert it.inflight.held > 0
            it.log.finish()
            await until(lambda: it.inflight.held == 0)

    run(loop, main())


def test_a_long_poll_ends_when_its_client_goes(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(fetch(1))
            await until(lambda: "fetch" in it.log.story)
            client.close()
            await until(lambda: "fetch cancelled" in it.log.story)
            await until(lambda: it.inflight.held == 0)

    run(loop, main())


def test_connections_above_their_number_are_refused(loop: str) -> None:
    async def main() -> None:
        async with serving(connections_max=2) as it:
            first, second = await it.client(), await it.client()
            await until(lambda: it.server.connections == 2)
            third = await it.client()
            assert await third.is_closed_by_server()
            assert it.metrics.counts["refused"] == 1
            first.close()
            await until(lambda: it.server.connections == 1)
            fourth = await it.client()
            fourth.send(heartbeat_frame(4))
            assert await fourth.correlation_id() == 4
            second.close()

    run(loop, main())


def test_connections_of_one_address_above_their_number_are_refused_and_no_others(loop: str) -> None:
    async def main() -> None:
        async with serving(connections_per_address_max=2) as it:
            first, _ = await it.client(), await it.client()
            await until(lambda: it.server.connections == 2)
            assert await (await it.client()).is_closed_by_server()
            assert it.metrics.counts["refused"] == 1
            other = await it.client(address="127.0.0.2")
            other.send(heartbeat_frame(4))
            assert await other.correlation_id() == 4
            first.close()
            await until(lambda: it.server.connections == 2)
            next_one = await it.client()
            next_one.send(heartbeat_frame(5))
            assert await next_one.correlation_id() == 5

    run(loop, main())


def test_a_storm_of_bad_frames_writes_a_few_lines(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            with capture_logs() as lines:
                for number in range(50):
                    bad = await it.client()
                    bad.send((number % 10).to_bytes(4, "big"))  # shorter than any header
                    assert await bad.is_closed_by_server()
            assert [line["event"] for line in lines] == ["closing a connection"] * LINES_MAX

    run(loop, main())


def test_draining_answers_what_was_taken_in_and_then_closes(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            busy, idle = await it.client(), await it.client()
            it.log.heartbeat_waits.clear()
            busy.send(produce(1) + heartbeat_frame(2) + heartbeat_frame(3))
            await until(lambda: it.metrics.counts["Heartbeat"] == 2 and it.server.connections == 2)
            port = it.server.port
            draining = asyncio.get_running_loop().create_task(it.server.drain(timeout_ms=20_000))
            assert await idle.is_closed_by_server()
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await asyncio.open_connection("127.0.0.1", port)
            busy.send(heartbeat_frame(4))
            it.log.heartbeat_waits.set()
            it.log.finish()
            assert [await busy.correlation_id() for _ in range(3)] == [1, 2, 3]
            assert await busy.is_closed_by_server()
            busy.close()
            idle.close()
            await draining
            assert it.server.connections == 0

    run(loop, main())


def test_draining_aborts_what_takes_too_long(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(produce(1))
            await until(lambda: len(it.log.pending) == 1)
            await it.server.drain(timeout_ms=50)
            assert await client.is_closed_by_server()
            it.log.finish()

    run(loop, main())


def test_small_packets_are_sent_at_once(loop: str) -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.client()
            await until(lambda: it.server.connections == 1)
            (session,) = it.server._sessions
            accepted = session._transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
            client.close()

    run(loop, main())


def test_a_request_carries_its_caller(loop: str) -> None:
    callers: list[Caller] = []

    async def note(request: Any, context: RequestContext) -> Any:
        callers.append(context.caller)
        return messages.api(HEARTBEAT).Response()

    async def main() -> None:
        async with serving(
            apis=[Api(key=HEARTBEAT, name="Heartbeat", versions=(0, 4), needs=ANYONE, handle=note)]
        ) as it:
            client = await it.client()
            client.send(heartbeat_frame(1))
            await client.correlation_id()
            host, port = client.writer.get_extra_info("sockname")
            assert callers == [Caller(principal=ANONYMOUS, listener="PLAINTEXT", host=host, port=port)]

    run(loop, main())


def test_an_api_is_registered_once_and_in_one_way(loop: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        ApiTable([*APIS, APIS[0]])
    with pytest.raises(ValueError, match="exactly one"):
        Api(key=1, name="Both", versions=(0, 1), needs=ANYONE, handle=heartbeat, start=start_produce)
    with pytest.raises(ValueError, match="overlaps"):
        Api(key=1, name="Overlap", versions=(0, 1), needs=ANYONE, start=start_produce, overlaps=True)
    with pytest.raises(ValueError, match="in_order"):
        Api(key=1, name="InOrder", versions=(0, 1), needs=ANYONE, handle=heartbeat, in_order=True)
    assert ApiTable(APIS)[PRODUCE].advertised == (0, 13)
    assert ApiTable(APIS).served()[PRODUCE] == (3, 13)
    assert produce_frame(b"")[4:6] == b"\0\0"

"""Clients that stop in the middle, wait, idle or do not read: what they hold has a bound. On both event loops."""

import asyncio
import sys

import pytest

from tests.unit.connection.requests import fetch, produce, unreadable
from tests.unit.connection.serving import LOOPS, run, serving, until

MIB = 1024 * 1024
pytestmark = pytest.mark.parametrize("loop", list(LOOPS))


def test_a_client_that_stops_in_the_middle_of_a_frame_is_let_go(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, stall_ms_max=200) as it:
            stalled, other = await it.client(), await it.client()
            stalled.send(produce(1, records=bytes(900_000))[:1000])
            await until(lambda: it.inflight.held > 0)
            other.send(produce(2, records=bytes(500_000), mode=1))
            assert await stalled.is_closed_by_server()
            assert await other.correlation_id() == 2

    run(loop, main())


def test_a_client_that_announces_a_long_frame_and_sends_little_of_it_stops_nobody(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB) as it:
            trickle, other = await it.client(), await it.client()
            frame = produce(1, records=bytes(90 * MIB))
            trickle.send(frame[:18])
            await until(lambda: it.inflight.held > 0)
            for number in range(20):
                trickle.send(frame[18 + number : 19 + number])
                other.send(produce(number, records=bytes(700_000), mode=1))
                assert await other.correlation_id() == number
            assert it.server.connections == 2, "nobody waits for it, so it may take its time"

    run(loop, main())


def test_clients_that_send_too_slowly_are_let_go_while_others_wait_for_their_room(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, pace_check_ms=50) as it:
            slow = [await it.client() for _ in range(4)]
            for client in slow:
                client.send(produce(1, records=bytes(2 * MIB))[:300_000])
            await until(lambda: it.inflight.waiting > 0)
            other = await it.client()
            other.send(produce(2, records=bytes(500_000), mode=1))
            assert await other.correlation_id() == 2
            assert it.server.connections < 5
            await until(lambda: it.inflight.waiting == 0)

    run(loop, main())


def test_a_slow_client_is_kept_where_others_wait_for_answers_of_ours(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, pace_check_ms=20) as it:
            holder, slow, waiter = await it.client(), await it.client(), await it.client()
            holder.send(produce(1, records=bytes(800_000)))
            await until(lambda: len(it.log.pending) == 1)
            slow.send(produce(2, records=bytes(100_000))[:1000])
            await until(lambda: it.inflight.held > 850_000)
            waiter.send(produce(3, records=bytes(500_000)))
            await until(lambda: it.inflight.waiting == 1)
            await asyncio.sleep(0.2)
            assert it.server.connections == 3

    run(loop, main())


def test_the_longest_frame_ends_in_bounded_time_while_others_wait(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, pace_check_ms=50, pace_bytes_min=1, pace_checks_max=8) as it:
            trickle, other = await it.client(), await it.client()
            frame = produce(1, records=bytes(40 * MIB))
            trickle.send(frame[: 2 * MIB])
            await until(lambda: it.inflight.held > 1 * MIB)
            other.send(produce(2, records=bytes(500_000), mode=1))
            answer = asyncio.ensure_future(other.correlation_id())
            sent = 2 * MIB
            while not answer.done() and sent < 4 * MIB:
                trickle.send(frame[sent : sent + 1024])  # faster than pace_bytes_min, and days too slow
                sent += 1024
                await asyncio.sleep(0.005)
            assert answer.done() and answer.result() == 2

    run(loop, main())


def test_a_client_that_reads_too_slowly_does_not_hold_the_room_of_others(loop: str) -> None:
    """Its requests do not start before it reads; reading a little now and then must not keep them."""

    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, write_buffer_bytes_max=64 * 1024, pace_check_ms=50) as it:
            it.log.fetch_bytes = 32 * MIB
            it.log.fetch_waits.set()
            unread, other = await it.client(), await it.client()
            unread.reader._transport.pause_reading()  # type: ignore[attr-defined]
            unread.send(fetch(1))
            await until(lambda: it.metrics.counts["response bytes"] > 0)
            unread.send(produce(2, records=bytes(900_000)))
            await until(lambda: it.inflight.held > 900_000)
            other.send(produce(3, records=bytes(500_000), mode=1))
            assert await other.correlation_id() == 3
            assert it.server.connections == 1

    run(loop, main())


def test_a_connection_that_is_closed_in_the_queue_for_room_gives_everything_back(loop: str) -> None:
    """An unreadable request closes its connection while its next frame waits and its socket has unsent bytes."""

    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, write_buffer_bytes_max=64 * MIB) as it:
            it.log.fetch_bytes = 32 * MIB
            it.log.fetch_waits.set()
            holder, hostile, other = await it.client(), await it.client(), await it.client()
            hostile.reader._transport.pause_reading()  # type: ignore[attr-defined]
            hostile.send(fetch(1))  # what it does not read keeps its socket open after the end
            await until(lambda: it.metrics.counts["response bytes"] > 0)
            holder.send(produce(2, records=bytes(900_000)))
            await until(lambda: len(it.log.pending) == 1)
            hostile.send(produce(3, mode=2))  # waits for admission, and the next request with it
            hostile.send(unreadable())
            hostile.send(produce(5, records=bytes(300_000)))
            await until(lambda: it.inflight.waiting == 1)
            it.log.admission_waits.set()
            await until(lambda: len(it.log.pending) == 2)
            it.log.finish(1)
            await until(lambda: it.inflight.waiting == 0)
            it.log.finish(0)
            assert await holder.correlation_id() == 2
            other.send(produce(6, records=bytes(1_000_000), mode=1))
            assert await other.correlation_id() == 6
            assert it.inflight.held == 0
            assert not it.inflight.waits_for_clients

    run(loop, main())


def test_a_client_that_waits_for_room_is_not_taken_for_stalled(loop: str) -> None:
    async def main() -> None:
        async with serving(inflight_bytes_max=1 * MIB, stall_ms_max=100, idle_ms_max=100) as it:
            holder, waiter = await it.client(), await it.client()
            holder.send(produce(1, records=bytes(900_000)))
            await until(lambda: len(it.log.pending) == 1)
            waiter.send(produce(2, records=bytes(500_000)))
            await until(lambda: it.inflight.waiting == 1)
            await asyncio.sleep(0.4)
            assert it.server.connections == 2
            it.log.finish()
            await until(lambda: len(it.log.pending) == 1)
            it.log.finish()
            assert await waiter.correlation_id() == 2

    run(loop, main())


def test_a_client_that_does_not_read_holds_a_bounded_amount(loop: str) -> None:
    if loop == "asyncio" and ((3, 12) <= sys.version_info < (3, 12, 9) or (3, 13) <= sys.version_info < (3, 13, 2)):
        pytest.skip("this Python's own loop never pauses after writelines (gh-127655); brokers run on uvloop")

    async def main() -> None:
        async with serving(write_buffer_bytes_max=256 * 1024, inflight_requests_max=16) as it:
            it.log.fetch_bytes = 1 * MIB
            it.log.fetch_waits.set()
            client = await it.client()
            client.reader._transport.pause_reading()  # type: ignore[attr-defined]
            client.send(b"".join(fetch(at) for at in range(60)))
            await until(lambda: it.metrics.counts["paused requests"] > 0)
            await asyncio.sleep(0.1)
            assert it.log.story.count("fetch") <= 40
            client.reader._transport.resume_reading()  # type: ignore[attr-defined]
            assert [await client.correlation_id() for _ in range(60)] == list(range(60))

    run(loop, main())


def test_a_client_that_never_reads_is_let_go(loop: str) -> None:
    async def main() -> None:
        async with serving(write_buffer_bytes_max=64 * 1024, stall_ms_max=200) as it:
            it.log.fetch_bytes = 16 * MIB
            it.log.fetch_waits.set()
            client = await it.client()
            client.reader._transport.pause_reading()  # type: ignore[attr-defined]
            client.send(fetch(1))
            await until(lambda: it.server.connections == 0)

    run(loop, main())


def test_an_idle_connection_is_closed_and_one_that_waits_for_us_is_not(loop: str) -> None:
    async def main() -> None:
        async with serving(idle_ms_max=150) as it:
            idle, waits = await it.client(), await it.client()
            waits.send(fetch(1))
            assert await idle.is_closed_by_server()
            await asyncio.sleep(0.3)
            it.log.fetch_waits.set()
            assert await waits.correlation_id() == 1

    run(loop, main())

"""HTTP clients that send garbage, never finish, never read or leave: each ends, with a calm line in the log."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

from lakestream.protocol.rate_limited_log import LINES_MAX
from lakestream.protocol.rest.connection import HttpLimits
from lakestream.protocol.rest.server import HttpServer

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n"
LONG = b"GET /long HTTP/1.1\r\nHost: here\r\n\r\n"
LONG_BYTES = 64 * 1024 * 1024
PATIENCE_S = 20


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def answer(self) -> bytes:
        return await asyncio.wait_for(self._reader.read(1 << 16), PATIENCE_S)

    async def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        try:
            return await asyncio.wait_for(self._reader.read(), PATIENCE_S)
        except ConnectionError:
            return b""

    def stop_reading(self) -> None:
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def leave(self) -> None:
        self._writer.transport.abort()


class Serving:
    def __init__(self, http: HttpServer) -> None:
        self._http = http

    async def client(self) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self._http.port))

    @property
    def connections(self) -> int:
        return len(self._http._server.server_state.connections)

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(PATIENCE_S * 200):
            if condition():
                return
            await asyncio.sleep(0.005)
        raise AssertionError("it did not come to pass")


@asynccontextmanager
async def serving(**limits: Any) -> AsyncIterator[Serving]:
    async def echo(request: Request) -> Response:
        return PlainTextResponse(b"here " + await request.body())

    routes = [
        Route("/", echo, methods=["GET", "POST"]),
        Route("/long", lambda _: PlainTextResponse(bytes(LONG_BYTES))),
    ]
    http = HttpServer(Starlette(routes=routes), "127.0.0.1", 0, limits=HttpLimits(**limits))
    http.start()
    try:
        yield Serving(http)
    finally:
        await http.stop()


def events_of(story: Coroutine[Any, Any, None], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged. Nothing may come the standard way, and nothing with a traceback."""
    with capture_logs() as lines:
        asyncio.run(story)
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR", "CRITICAL")] == []
    assert [line for line in lines if line["log_level"] != "info" or "exc_info" in line] == []
    return [line["event"] for line in lines]


def test_garbage_is_refused_in_a_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving() as it:
            for _ in range(30):
                client = await it.client()
                client.send(b"\x16\x03\x01\x02\0 this is no HTTP\r\n\r\n")
                assert (await client.rest()).startswith(b"HTTP/1.1 400")

    assert events_of(story(), caplog) == ["Invalid HTTP request received."] * LINES_MAX


def test_garbage_behind_a_request_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    """An answer has begun, or is complete: h11 allows no other one."""

    async def story() -> None:
        async with serving() as it:
            for data in (GET + b"\0\0 garbage\r\n\r\n", LONG + b"\0\0 garbage\r\n\r\n"):
                client = await it.client()
                client.send(data)
                await client.rest()
            chunked = await it.client()
            chunked.send(b"POST /long HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
            await chunked.answer()
            chunked.send(b"no number\r\n")
            await chunked.rest()
            await it.until(lambda: it.connections == 0)

    events_of(story(), caplog)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving() as it:
            client = await it.client()
            client.send(POST + b"half")
            await it.until(lambda: it.connections == 1)
            await asyncio.sleep(0.05)
            client.leave()
            await it.until(lambda: it.connections == 0)
            await asyncio.sleep(0.05)

    assert events_of(story(), caplog) == ["an HTTP client left in the middle of a request"]


@pytest.mark.parametrize("sent", [b"", b"GET / HT", GET[:-2], POST, POST + b"half", GET + b"GET /"])
def test_a_request_that_never_ends_is_let_go(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(request_s_max=0.2) as it:
            client = await it.client()
            client.send(sent)
            await client.rest()
            await it.until(lambda: it.connections == 0)

    events_of(story(), caplog)


def test_a_byte_now_and_then_does_not_prolong_a_request(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(request_s_max=0.3) as it:
            client = await it.client()
            client.send(GET[:-2])
            closed = asyncio.ensure_future(client.rest())
            while not closed.done():
                client.send(b"X: y\r\n")
                await asyncio.sleep(0.02)

    assert events_of(story(), caplog) == ["an HTTP request does not come to its end, closing the connection"]


def test_a_kept_connection_is_used_again_after_the_time_for_one_request(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(request_s_max=0.2) as it:
            client = await it.client()
            for _ in range(4):
                client.send(GET)
                assert (await client.answer()).startswith(b"HTTP/1.1 200")
                await asyncio.sleep(0.1)

    assert events_of(story(), caplog) == []


def test_a_client_that_never_reads_is_let_go(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(read_s_max=0.2) as it:
            client = await it.client()
            client.stop_reading()
            client.send(LONG)
            await it.until(lambda: it.connections == 1)
            await it.until(lambda: it.connections == 0)

    assert events_of(story(), caplog) == ["an HTTP client does not read, closing the connection"]


def test_connections_above_their_number_are_closed(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(connections_max=3) as it:
            kept = [await it.client() for _ in range(3)]
            await it.until(lambda: it.connections == 3)
            assert await (await it.client()).rest() == b""
            kept[0].leave()
            kept[1].leave()
            await it.until(lambda: it.connections == 1)
            kept[2].send(GET)
            assert (await kept[2].answer()).startswith(b"HTTP/1.1 200")

    assert events_of(story(), caplog) == ["too many HTTP connections are open, closing the connection"]

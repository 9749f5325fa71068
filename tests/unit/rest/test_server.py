"""The HTTP server on a real socket."""

import asyncio
import socket

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.rest.server import HttpServer


def test_answers_on_a_kept_connection_do_not_wait_for_an_acknowledgement() -> None:
    """Of the head, which goes before the body: without TCP_NODELAY that is a delayed ACK for every request."""

    async def body() -> None:
        http = HttpServer(Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))]), "127.0.0.1", 0)
        http.start()
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{http.port}", trust_env=False) as client:
            assert (await client.get("/")).text == "here"
            (connection,) = http._server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")  # type: ignore[union-attr]
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        await http.stop()

    asyncio.run(body())


def test_a_request_carries_its_caller() -> None:
    callers: list[Caller] = []

    async def note(request: Request) -> Response:
        callers.append(request.state.caller)
        return PlainTextResponse("noted")

    async def body() -> None:
        http = HttpServer(Starlette(routes=[Route("/", note)]), "127.0.0.1", 0)
        http.start()
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{http.port}", trust_env=False) as client:
            await client.get("/")
            await client.get("/")
        await http.stop()

    asyncio.run(body())
    first, second = callers
    assert first == second == Caller(principal=ANONYMOUS, listener="HTTP", host="127.0.0.1", port=first.port)
    assert str(first.principal) == "User:ANONYMOUS"

"""A browser on another site's page changes nothing; programs pass."""

import asyncio

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from lakestream.protocol.rest.same_origin import SameOrigin


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    response: Response = PlainTextResponse(Request(scope).method)
    await response(scope, receive, send)


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 200),
        ("DELETE", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("POST", {"Sec-Fetch-Site": "none"}, 200),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("POST", {"Sec-Fetch-Site": "same-site"}, 403),
        ("POST", {"Origin": "http://lake:8080"}, 200),
        ("POST", {"Origin": "http://lake:8081"}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("GET", {"Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
def test_only_changes_from_elsewhere_are_refused(method: str, headers: dict[str, str], status: int) -> None:
    async def scenario() -> int:
        transport = httpx.ASGITransport(SameOrigin(app))
        async with httpx.AsyncClient(transport=transport, base_url="http://lake:8080") as client:
            return (await client.request(method, "/", headers=headers)).status_code

    assert asyncio.run(scenario()) == status

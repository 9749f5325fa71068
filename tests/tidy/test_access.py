"""Every Kafka API and every HTTP route says what its caller must be allowed to do."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from lakestream.cli.access_reference import access_routes, served_routes
from lakestream.model.access import ANYONE, Need
from lakestream.protocol.kafka.api import Api
from lakestream.protocol.kafka.apis.all import APIS

OPEN_APIS = {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}
"""Clients ask them before, or in order to, say who they are."""
OPEN_PATHS = {
    "/console/login",
    "/console/logout",
    "/console/static/{file}",
    "/healthz",
    "/readyz",
    "/iceberg/v1/config",
    "/iceberg/v1/oauth/tokens",
    "/iceberg/{path:path}",
    "/registry/",
    "/registry/contexts",
    "/registry/schemas/types",
}
"""They show nothing of what is stored, or are where callers log in."""


def test_only_these_apis_are_for_anyone() -> None:
    assert {api.name for api in APIS if api.needs == ANYONE} == OPEN_APIS
    assert all(isinstance(need, Need) for api in APIS for need in api.needs)


def test_an_api_cannot_leave_its_needs_out() -> None:
    with pytest.raises(TypeError, match="needs"):
        Api(key=3, name="Metadata", versions=(0, 13), handle=answer)  # type: ignore[call-arg, arg-type]


def test_every_route_of_every_process_says_what_it_needs() -> None:
    processes = asyncio.run(served_routes())
    assert set(processes) == {"gateway", "broker", "pipeline"}
    found = {path: route for routes in processes.values() for path, route in access_routes(routes)}
    assert len(found) > 40, "mounted routes are found"
    assert {path for path, route in found.items() if route.needs == ANYONE} == OPEN_PATHS


def test_a_route_that_does_not_say_is_found() -> None:
    with pytest.raises(TypeError, match="/hidden"):
        list(access_routes([Mount("/admin", routes=[Route("/hidden", answer)])]))


async def answer(request: Request) -> Response:
    return PlainTextResponse("")

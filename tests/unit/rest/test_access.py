"""Every route of the gateway answers 403 without each right that it declares, and something else with all of them."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lakestream.access.access import Access, LimitedAccess
from lakestream.access.rules import AclRules, Question
from lakestream.app.gateway import gateway_routes
from lakestream.cli.access_reference import access_routes
from lakestream.metadata.open import open_store
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME, Acl, Pattern, Permission
from lakestream.model.caller import Caller
from lakestream.protocol.rest.access.callers import CLUSTER_SECRET_HEADER, AnonymousGate, ClusterGate, WithCaller
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import InlineThreads

FORBIDDEN = 403
PARAMETER = re.compile(r"{(\w+)(?::path)?}")


class Granted:
    """The rights of the one caller, changed by the test."""

    def __init__(self) -> None:
        self.acls: Sequence[Acl] = ()

    @property
    def version(self) -> object:
        return object()

    def allows(self, asked: Question) -> bool:
        return AclRules(self.acls).decide(asked).allowed

    def allows_on_any(self, asked: Question) -> bool:
        return AclRules(self.acls).allows_on_any(asked)


def grant(need: Need) -> Acl:
    return Acl(
        resource=need.resource,
        pattern=Pattern.LITERAL,
        name=CLUSTER_NAME if need.resource is ResourceType.CLUSTER else "*",
        principal="User:ANONYMOUS",
        host="*",
        operation=need.operation,
        permission=Permission.ALLOW,
    )


@asynccontextmanager
async def gateway(granted: Granted) -> AsyncIterator[tuple[list[tuple[str, AccessRoute]], httpx.AsyncClient]]:
    clock, threads = SystemClock(), InlineThreads()
    ids = Ids(clock, SystemChance())
    objects = await open_objects("memory://", clock=clock, ids=ids, threads=threads)
    store = await open_store("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())
    brokers = BrokerPages()
    routes = gateway_routes(
        store=store, objects=objects, brokers=brokers, schema_threads=threads, clock=clock, ids=ids, grace_ms=0
    )

    def access_of(caller: Caller) -> Access:
        return LimitedAccess(caller, granted, lambda asked: None)

    transport = httpx.ASGITransport(WithCaller(Starlette(routes=routes), AnonymousGate(access_of)))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield list(access_routes(routes)), client
    await brokers.close()
    await store.close()
    await objects.close()


def test_a_route_is_refused_without_each_right_and_served_with_all_of_them() -> None:
    async def scenario() -> int:
        granted = Granted()
        checked = 0
        async with gateway(granted) as (routes, client):

            async def status(path: str, route: AccessRoute, needs: Sequence[Need]) -> int:
                granted.acls = [grant(need) for need in needs]
                method = sorted((route.methods or set()) - {"HEAD", "OPTIONS"} or {"HEAD"})[0]
                return (await client.request(method, PARAMETER.sub("x", path), content=b"{}")).status_code

            for path, route in routes:
                if not route.needs:
                    assert await status(path, route, ()) != FORBIDDEN, path
                    continue
                assert await status(path, route, ()) == FORBIDDEN, path
                for missing in route.needs if len(route.needs) > 1 else ():
                    others = [need for need in route.needs if need is not missing]
                    assert await status(path, route, others) == FORBIDDEN, (path, missing)
                assert await status(path, route, route.needs) != FORBIDDEN, path
                checked += 1
        return checked

    assert asyncio.run(scenario()) > 50


def test_pages_for_other_processes_are_for_those_who_know_the_clusters_secret() -> None:
    async def scenario() -> None:
        async def page(request: Request) -> Response:
            return PlainTextResponse("here")

        route = AccessRoute("/groups", page, needs=(Need(Operation.DELETE, ResourceType.GROUP),))
        transport = httpx.ASGITransport(WithCaller(Starlette(routes=[route]), ClusterGate("secret")))
        async with httpx.AsyncClient(transport=transport, base_url="http://broker") as client:
            for told in ("", "secre", "secret ", "\u00e4"):
                headers = {CLUSTER_SECRET_HEADER: told.encode("latin-1")}
                assert (await client.get("/groups", headers=headers)).status_code == FORBIDDEN
            assert (await client.get("/groups")).status_code == FORBIDDEN
            assert (await client.get("/groups", headers={CLUSTER_SECRET_HEADER: "secret"})).text == "here"

    asyncio.run(scenario())

"""Every route of the gateway, with and without each right: refused without any one, served with all and no more."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from lakestream.access.access import LimitedAccess
from lakestream.access.rules import AclRules, Question
from lakestream.app.gateway import gateway_routes
from lakestream.cli.access_reference import access_routes
from lakestream.metadata.open import open_store
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import Acl, Pattern, Permission
from lakestream.model.broker import BrokerSpec
from lakestream.model.caller import Caller, Principal
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.model.repair import MERGE_REQUEST, Repair
from lakestream.model.table import STREAMS
from lakestream.protocol.rest.access.callers import CLUSTER_SECRET_HEADER, Admission, ClusterGate, WithCaller
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import InlineThreads

from .route_cases import NEW_TABLE, SUBJECT, VIEW, Case, Grant, cases

FORBIDDEN = 403
ALICE = Caller(principal=Principal("User", "alice"), listener="HTTP", host="127.0.0.1", port=1)
ASKED_ELSEWHERE = {
    ("POST", "/admin/sql"),
    ("GET", "/console/sql"),
    ("POST", "/console/sql"),
    ("GET", "/console/new-topic"),
    ("GET", "/admin/quarantine"),
}
"""Everybody may ask: the catalog checks each table of a query, the form that makes a topic is checked when it is sent,
and only a pipeline sets values aside that a list could show."""


class Granted:
    """The rights of the one caller, changed by the test."""

    def __init__(self) -> None:
        self.everything = True
        self.acls: Sequence[Acl] = ()

    @property
    def version(self) -> object:
        return object()

    def allows(self, asked: Question) -> bool:
        return self.everything or AclRules(self.acls).decide(asked).allowed

    def allows_on_any(self, asked: Question) -> bool:
        return self.everything or AclRules(self.acls).allows_on_any(asked)

    def only(self, grants: Sequence[Grant]) -> None:
        self.everything = False
        self.acls = [acl(grant) for grant in grants]

    async def gate(self, scope: Scope) -> Admission:
        return Admission(caller=ALICE, access=LimitedAccess(ALICE, self, lambda asked: None))


def acl(grant: Grant) -> Acl:
    operation, resource, name = grant
    return Acl(
        resource=resource,
        pattern=Pattern.LITERAL,
        name=name,
        principal="User:alice",
        host="*",
        operation=operation,
        permission=Permission.ALLOW,
    )


def elsewhere(grant: Grant) -> Grant:
    """The same right on something else."""
    operation, resource, name = grant
    return operation, resource, name if resource is ResourceType.CLUSTER else f"{name}.other"


class Site(NamedTuple):
    granted: Granted
    routes: dict[tuple[str, str], AccessRoute]
    http: httpx.AsyncClient
    cases: list[Case]


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """A gateway over a lake with a topic, its table, an ordinary table, a view, a group and subjects."""
    clock, threads, granted = SystemClock(), InlineThreads(), Granted()
    ids = Ids(clock, SystemChance())
    objects = await open_objects("memory://", clock=clock, ids=ids, threads=threads)
    store = await open_store("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())
    await store.tables.create_namespace(STREAMS, {})
    brokers = BrokerPages()
    routes = gateway_routes(
        store=store, objects=objects, brokers=brokers, schema_threads=threads, clock=clock, ids=ids, grace_ms=0
    )
    transport = httpx.ASGITransport(WithCaller(Starlette(routes=routes), granted.gate))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:

        async def make(path: str, body: object) -> httpx.Response:
            answer = await http.post(path, json=body)
            assert answer.is_success, (path, answer.text)
            return answer

        tables = "/iceberg/v1/namespaces/{}/tables"
        await make("/iceberg/v1/namespaces", {"namespace": ["shop"]})
        await make(tables.format("shop"), {**NEW_TABLE, "name": "plain"})
        await make(tables.format("streams"), {**NEW_TABLE, "name": "orders"})
        await make("/iceberg/v1/namespaces/shop/views", VIEW)
        schema = (await make("/registry/subjects/orders-value/versions", SUBJECT)).json()["id"]
        await make("/registry/subjects/plain.Subject/versions", {"schema": '"long"'})
        guid = (await http.get(f"/registry/schemas/ids/{schema}")).json()["guid"]
        [topic] = (await store.topics()).topics
        lease = await store.register_broker(BrokerSpec(id=1, host="h", port=1, rack=None, http="127.0.0.1:1"), 60_000)
        claim = await store.groups.claim_group("readers", lease, create=True)
        assert claim is not None
        offsets = {TopicPartition(topic.id, 0): CommittedOffset(0)}
        await store.groups.commit_offsets("readers", claim.epoch, generation=-1, offsets=offsets, retention_ms=None)
        await store.leave_broker(lease)
        repair = (await make("/admin/quarantine/orders", {"action": "retry"})).json()["repair"]
        merge = Repair(id=ids.ulid(), topic=topic.id, request=MERGE_REQUEST)
        await store.repairs.ask(merge)
        rebuild = (await make("/admin/tables/orders/rebuild", {})).json()["rebuild"]
        found = {(method, path): route for path, route in access_routes(routes) for method in route.methods or ()}
        yield Site(granted, found, http, cases(topic.id.hex(), schema, guid, repair, merge.id, rebuild))
    await brokers.close()
    await store.close()
    await objects.close()


async def ask(on: Site, case: Case, grants: Sequence[Grant]) -> httpx.Response:
    on.granted.only(grants)
    kind = "application/x-www-form-urlencoded" if case.form else "application/json"
    return await on.http.request(case.method, case.path, content=case.content, headers={"Content-Type": kind})


def is_denied(case: Case, answer: httpx.Response) -> bool:
    if case.shows is not None:
        return answer.status_code == FORBIDDEN or case.shows not in answer.text
    return answer.status_code == FORBIDDEN


ALL_CASES = cases("", 0, "", "", "", "")


async def refuses(on: Site, case: Case) -> None:
    """Without any right, without each one, and with it on something else. Nothing is changed by that."""
    assert is_denied(case, await ask(on, case, ())), f"{case} without any right"
    for missing in case.grants:
        others = [grant for grant in case.grants if grant is not missing]
        assert is_denied(case, await ask(on, case, others)), f"{case} without {missing}"
        if elsewhere(missing) != missing:
            assert is_denied(case, await ask(on, case, [*others, elsewhere(missing)])), f"{case}: {missing}, elsewhere"


async def serves(on: Site, case: Case) -> None:
    answer = await ask(on, case, case.grants)
    assert not is_denied(case, answer), f"{case}: {answer.text}"
    assert answer.status_code < 500 or answer.status_code == 503, f"{case}: {answer.text}"


def test_a_request_is_refused_without_each_right_on_this_very_resource() -> None:
    async def scenario() -> None:
        async with site() as on:
            for case in on.cases:
                await refuses(on, case)

    asyncio.run(scenario())


def test_a_request_is_served_with_its_rights_and_no_others() -> None:
    async def scenario() -> None:
        left = list(range(len(ALL_CASES)))
        while left:
            async with site() as on:
                removes = False
                while left and not removes:
                    case = on.cases[left.pop(0)]
                    await serves(on, case)
                    removes = any(word in f"{case.method} {case.path}".lower() for word in ("delete", "rename"))

    asyncio.run(scenario())


def test_every_route_that_needs_anything_is_tried_by_what_it_declares() -> None:
    async def scenario() -> None:
        async with site() as on:
            tried: dict[tuple[str, str], set[Operation]] = {}
            for case in on.cases:
                tried.setdefault((case.method, case.route), set()).update(operation for operation, _, _ in case.grants)
            for key, route in on.routes.items():
                if not route.needs or key in ASKED_ELSEWHERE or (key[0] == "HEAD" and ("GET", key[1]) in on.routes):
                    continue
                declared = {need.operation for need in route.needs}
                unscoped = {need.operation for need in route.needs if not need.scope}
                assert key in tried, f"no case asks {key}"
                assert unscoped <= tried[key] <= declared | unscoped, (key, declared)
            assert set(tried) <= set(on.routes), "a case asks a route that does not exist"

    asyncio.run(scenario())


def test_an_answer_is_withheld_if_nobody_asked_for_a_right_that_its_route_declares() -> None:
    async def scenario() -> None:
        async def forgetful(request: Request) -> Response:
            return PlainTextResponse("everything")

        granted = Granted()
        granted.only([(Operation.READ, ResourceType.TABLE, "*")])
        route = AccessRoute("/forgetful", forgetful, needs=(Need(Operation.READ, ResourceType.TABLE),))
        transport = httpx.ASGITransport(WithCaller(Starlette(routes=[route]), granted.gate))
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            answer = await client.get("/forgetful")
            assert answer.status_code == FORBIDDEN
            assert "everything" not in answer.text

    asyncio.run(scenario())


def test_pages_for_other_processes_are_for_those_who_know_the_clusters_secret() -> None:
    async def scenario() -> None:
        done = []

        async def page(request: Request) -> Response:
            done.append(request)
            return PlainTextResponse("here")

        route = AccessRoute("/groups", page, needs=(Need(Operation.DELETE, ResourceType.GROUP),))
        transport = httpx.ASGITransport(WithCaller(Starlette(routes=[route]), ClusterGate("secret")))
        async with httpx.AsyncClient(transport=transport, base_url="http://broker") as client:
            for told in ("", "secre", "secret ", "\u00e4"):
                headers = {CLUSTER_SECRET_HEADER: told.encode("latin-1")}
                assert (await client.get("/groups", headers=headers)).status_code == FORBIDDEN
            assert (await client.get("/groups")).status_code == FORBIDDEN
            assert not done, "nothing was carried out"
            assert (await client.get("/groups", headers={CLUSTER_SECRET_HEADER: "secret"})).text == "here"

    asyncio.run(scenario())

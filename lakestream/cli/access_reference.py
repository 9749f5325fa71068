"""Generates docs/reference/access.md: what the caller of each Kafka API and HTTP route must be allowed to do.

python -m lakestream.cli.access_reference > docs/reference/access.md
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence

from starlette.routing import BaseRoute, Mount

from lakestream.access.authorizer import AccessPolicy, Authorizer
from lakestream.access.logins import Logins
from lakestream.access.tokens import LoginTokens
from lakestream.app.broker_health import Health
from lakestream.app.gateway import gateway_routes
from lakestream.broker.metrics import Metrics
from lakestream.jobs import pipeline_pages
from lakestream.metadata.open import open_store
from lakestream.model.access import COUNTS_AS_ITS_TOPIC, Need, Needs, Operation
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.rest.access.logins import HttpLogins
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.table.metrics import PipelineMetrics
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

_HEAD = """\
# Access

What the caller of each API and route must be allowed to do: an operation on a resource. It is
checked if `access.authorize` is set ([the guide](../guide/security.md)); otherwise everybody may do everything. This
page is made from the code: `python -m lakestream.cli.access_reference`.

Operations, and the resources Topic, Group, Cluster and TransactionalId, are Apache Kafka's. Namespaces, tables, views
and subjects are resources of the same form; tables and views are named with their namespace, `shop.goods`. A {} that
belongs to a topic counts as that Topic: Describe shows that it is there, Read loads it, Write appends to it, Alter
changes its schema, Delete drops it. A topic's subjects are `<topic>-key` and `<topic>-value`.

A request must have all that its row lists. "or" separates rights of which one is enough. Parentheses say which requests
or resources a right is about, where that is not all of them.

## Kafka APIs

The rows are those of Apache Kafka's documentation (Authorization and ACLs, Operations and Resources on Protocols), and
what its brokers check besides: configs in the answer of CreateTopics (KIP-525), configs of groups, topics of consumer
groups; Write on a topic is enough for an idempotent producer (KIP-679). What only Kafka's own brokers ask of each other
is left out.

| key | API | needs |
|---|---|---|
"""

_ROUTES = """
## HTTP routes of the {}

| method | path | needs |
|---|---|---|
"""


def reference_page() -> str:
    """The whole page."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield _HEAD.format(" or ".join(sorted(each.value for each in COUNTS_AS_ITS_TOPIC)))
    yield from (f"| {api.key} | {api.name} | {_words(api.needs)} |\n" for api in APIS)
    for process, routes in asyncio.run(served_routes()).items():
        yield _ROUTES.format(process)
        yield from (
            f"| {_methods(route)} | `{path}` | {_words(route.needs)} |\n" for path, route in access_routes(routes)
        )


async def served_routes() -> Mapping[str, Sequence[BaseRoute]]:
    """All routes of each process, over empty stores in memory."""
    clock, threads = SystemClock(), InlineThreads()
    ids = Ids(clock, SystemChance())
    objects = await open_objects("memory://", clock=clock, ids=ids, threads=threads)
    store = await open_store("sqlite:///:memory:", clock=clock, ids=ids)
    brokers = BrokerPages()
    try:
        authorizer = Authorizer(AccessPolicy(), store, clock, Tasks(on_failure=lambda task, error: None))
        known = Logins(authorizer, "", clock=clock, ids=ids, threads=threads)
        gateway = gateway_routes(
            store=store,
            objects=objects,
            brokers=brokers,
            schema_threads=threads,
            clock=clock,
            ids=ids,
            grace_ms=0,
            logins=HttpLogins(known, LoginTokens(authorizer, "", clock)),
        )
        return {
            "gateway": gateway,
            "broker": Health(store=store, metrics=Metrics()).routes(),
            "pipeline": pipeline_pages(store, PipelineMetrics()),
        }
    finally:
        await brokers.close()
        await store.close()
        await objects.close()


def access_routes(routes: Iterable[BaseRoute], above: str = "") -> Iterator[tuple[str, AccessRoute]]:
    """Each route with its whole path. Raises TypeError for a route that does not declare its needs."""
    for route in routes:
        if isinstance(route, Mount):
            yield from access_routes(route.routes, above + route.path)
        elif isinstance(route, AccessRoute):
            yield above + route.path, route
        else:
            raise TypeError(f"{route} does not say what its caller must be allowed to do: make it an AccessRoute")


def _methods(route: AccessRoute) -> str:
    """The route's methods without HEAD, which every route for GET answers."""
    methods = route.methods or set()
    return ", ".join(sorted(methods - {"HEAD"} if "GET" in methods else methods))


def _words(needs: Needs) -> str:
    return "<br>".join(map(_word, needs)) or "nothing"


def _word(need: Need) -> str:
    other = "" if need.or_else is None else f" or {_word(need.or_else)}"
    scope = need.scope and f" ({need.scope})"
    return f"{_name(need.operation)} on {need.resource.value}{other}{scope}"


def _name(operation: Operation) -> str:
    """The operation's name in Kafka's tools: IdempotentWrite."""
    return "".join(part.capitalize() for part in operation.name.split("_"))


if __name__ == "__main__":
    print(reference_page(), end="")

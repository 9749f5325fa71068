"""The one place where requests of Kafka clients are checked: each passes here before its handler runs."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from lakestream.model.access import ANYONE
from lakestream.protocol.kafka.api import Api, Later, RequestContext, Response, Starting
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.guards.allowed_part import AllowedPart, Judged
from lakestream.protocol.kafka.guards.table import GUARDS
from lakestream.protocol.kafka.wire.shapes import Shape


def begin(api: Api, request: Any, context: RequestContext) -> Starting:
    """Call the handler with what the caller may ask for."""
    if context.access.is_limited and (judged := judge(api, request, context)) is not None:
        return _run_allowed_part(api, judged, context)
    if api.start is not None:
        return api.start(request, context)
    assert api.handle is not None
    return api.handle(request, context)


def judge(api: Api, request: Any, context: RequestContext) -> Judged:
    """None: the request may pass as it is. Raises Refused. An API without a guard is refused."""
    if api.needs == ANYONE:
        return None
    guard = GUARDS.get(api.key)
    if guard is None:
        raise Refused(KafkaError.CLUSTER_AUTHORIZATION_FAILED, f"{api.name} is served without authorization only")
    return guard(api, request, context)


async def _run_allowed_part(
    api: Api, judged: AllowedPart | Coroutine[Any, Any, AllowedPart], context: RequestContext
) -> Response:
    """Run the handler with what is allowed, and complete its answer."""
    verdict = judged if isinstance(judged, AllowedPart) else await judged
    if api.start is not None:
        return verdict.finish(await _ended(api.start(verdict.request, context)))
    assert api.handle is not None
    return verdict.finish(await api.handle(verdict.request, context))


async def _ended(starting: Starting) -> Response:
    """The response of a request that was started without a task."""
    if starting is None or isinstance(starting, Shape):
        return starting
    started = starting if isinstance(starting, asyncio.Future | Later) else await starting
    if isinstance(started, Later):
        await asyncio.wait([started.done])
        return started.respond(started.done)
    return await started if isinstance(started, asyncio.Future) else started

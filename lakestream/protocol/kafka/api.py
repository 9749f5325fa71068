"""Api: the entry that every API file registers, and the context that its handler is given.

    API = Api(key=3, name="Metadata", versions=(0, 13), needs=(Need(...),), handle=handle)

    async def handle(request: metadata.Request, context: RequestContext) -> metadata.Response: ...

A handler takes the decoded request and returns the response, or None to send nothing at all (acks=0). `wire/generated`
has the types of both. There are two ways to run, and an API chooses one:

    handle    async. Awaited in arrival order: the connection's next request starts when this one has finished.
              With `overlaps=True` (Fetch) it is started in arrival order and its waits overlap with later requests.
    start     Runs without a task. Called in arrival order. It returns a response, an asyncio.Future of a response, or
              a `Later`: a future of anything, and the function that makes a response of it. If admission itself must
              wait, for instance for validation in a thread, start returns a coroutine of one of these. The session
              awaits the coroutine before it starts the connection's next request; it does not await the future.
              With `in_order=True` (OffsetCommit) it awaits the future too: later requests may read what it wrote.

Responses leave in request order, whichever finishes first. An exception becomes the API's own error response through
`error_response`, or closes the connection where there is none.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from lakestream.access.access import UNLIMITED, Access
from lakestream.broker.broker import Broker
from lakestream.model.access import Needs
from lakestream.model.caller import Caller
from lakestream.protocol.kafka.sasl.login import Login
from lakestream.protocol.kafka.wire.shapes import Shape

Response: TypeAlias = Shape | None
"""None: send nothing."""


class Later(NamedTuple):
    """A response that `respond` makes when the future `done` is filled. It is cheaper than a future of its own."""

    done: "asyncio.Future[Any]"
    respond: "Callable[[asyncio.Future[Any]], Response]"
    """Called with `done`. An exception it raises becomes the client's error."""


Started: TypeAlias = Response | asyncio.Future[Response] | Later
Starting: TypeAlias = Started | Coroutine[Any, Any, Started]
"""The return value of `start`. It is a coroutine if admission itself must wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Everything about a request that is not in its body. One value serves many requests of a connection."""

    api_version: int
    client_id: str | None
    caller: Caller
    broker: Broker
    apis: "ApiTable"
    """The APIs this listener serves: the answer to ApiVersions."""
    login: Login | None = None
    """None on a listener without SASL."""
    access: Access = UNLIMITED
    """What the caller may do. The guard of the API has asked it already; handlers ask it for what they show."""


class CloseConnection(Exception):
    """A handler raises this to close the connection, if it has no way to answer (a failed produce with acks=0)."""


Handle: TypeAlias = Callable[[Any, RequestContext], Coroutine[Any, Any, Response]]
Start: TypeAlias = Callable[[Any, RequestContext], Starting]
ErrorResponse: TypeAlias = Callable[[Any, RequestContext, int, str], Response]
"""(request, context, Kafka error code, message) -> the error response in this API's shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One Kafka API: the versions served, and the function that serves them."""

    key: int
    name: str
    versions: tuple[int, int]
    """Lowest and highest version served."""
    needs: Needs
    """The access that the caller needs. Apache Kafka documents it in "Operations and Resources on Protocols"."""
    advertised_min: int | None = None
    """Lowest version advertised to clients, where some insist on a lower one than is served (Produce: 0)."""
    handle: Handle | None = None
    start: Start | None = None
    overlaps: bool = False
    in_order: bool = False
    error_response: ErrorResponse | None = None

    def __post_init__(self) -> None:
        if (self.handle is None) == (self.start is None):
            raise ValueError(f"{self.name} needs exactly one of handle and start")
        if self.start is not None and self.overlaps:
            raise ValueError(f"{self.name}: what start returns as a future overlaps already; overlaps is for handle")
        if self.in_order and self.start is None:
            raise ValueError(f"{self.name}: what is handled is in order already; in_order is for start")

    @property
    def advertised(self) -> tuple[int, int]:
        lowest, highest = self.versions
        return (lowest if self.advertised_min is None else self.advertised_min), highest


class ApiTable:
    """The APIs of one listener, by key."""

    def __init__(self, apis: Iterable[Api]) -> None:
        self._apis: dict[int, Api] = {}
        for api in sorted(apis, key=lambda each: each.key):
            if api.key in self._apis:
                raise ValueError(f"API key {api.key} is registered twice: {self._apis[api.key].name} and {api.name}")
            self._apis[api.key] = api

    def __iter__(self) -> Iterator[Api]:
        return iter(self._apis.values())

    def __getitem__(self, key: int) -> Api:
        return self._apis[key]

    def served(self) -> dict[int, tuple[int, int]]:
        """API key -> lowest and highest version the server decodes. Any other version closes the connection."""
        return {api.key: api.versions for api in self}

"""A real server on a loopback socket, with handlers that the test controls, and a plain client."""

import asyncio
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

import uvloop

from lakestream.access.access import UNLIMITED, Access
from lakestream.model.access import ANYONE
from lakestream.model.caller import Caller
from lakestream.protocol.kafka.api import Api, ApiTable, RequestContext
from lakestream.protocol.kafka.inflight import InflightBytes
from lakestream.protocol.kafka.limits import ServerLimits
from lakestream.protocol.kafka.server import KafkaServer
from lakestream.protocol.kafka.wire import messages
from lakestream.world.clock import SystemClock

PRODUCE, FETCH, HEARTBEAT = 0, 1, 12
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
PATIENCE_S = 20


def run(loop: str, main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(asyncio.wait_for(main, 60))


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE_S * 200):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to pass")


class Counted:
    """Metrics as plain numbers."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def connection_opened(self) -> None:
        self.counts["opened"] += 1

    def connection_closed(self) -> None:
        self.counts["closed"] += 1

    def connection_refused(self) -> None:
        self.counts["refused"] += 1

    def request_received(self, api: str, frame_bytes: int) -> None:
        self.counts[api] += 1
        self.counts["request bytes"] += frame_bytes

    def request_failed(self, api: str, code: int) -> None:
        self.counts[f"{api} failed {code}"] += 1

    def client_throttled(self) -> None:
        self.counts["throttled"] += 1

    def responses_sent(self, response_bytes: int) -> None:
        self.counts["response bytes"] += response_bytes

    def reading_paused(self, why: str) -> None:
        self.counts[f"paused {why}"] += 1


class NoAuthorizer:
    def access_of(self, caller: Caller) -> Access:
        return UNLIMITED


class NoQuotas:
    exist = False


class Log:
    """A broker of sorts: remembers what was started, and finishes it when told."""

    def __init__(self) -> None:
        self.authorizer = NoAuthorizer()
        self.quotas = NoQuotas()
        self.clock = SystemClock()
        self.story: list[str] = []
        self.pending: list[tuple[asyncio.Future[Any], Any]] = []
        self.fetch_waits = asyncio.Event()
        self.admission_waits = asyncio.Event()
        self.heartbeat_waits = asyncio.Event()
        self.heartbeat_waits.set()
        self.fetch_bytes = 0

    def finish(self, at: int = 0) -> None:
        future, request = self.pending.pop(at)
        if not future.cancelled():
            future.set_result(produce_response(request))

    def finish_all(self) -> None:
        while self.pending:
            self.finish()


def produce_response(request: Any) -> Any:
    if request.acks == 0:
        return None
    api = messages.api(PRODUCE)
    return api.Response(
        responses=[
            api.TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    api.PartitionProduceResponse(index=each.index, base_offset=len(each.records or b""))
                    for each in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


def start_produce(request: Any, context: RequestContext) -> Any:
    """The timeout field says what to do: 1 answers at once, 2 waits for admission, otherwise the test finishes it."""
    index = request.topic_data[0].partition_data[0].index
    if request.timeout == 2:
        return admit(request, context, index)
    return begin(request, context, index)


async def admit(request: Any, context: RequestContext, index: int) -> Any:
    context.broker.story.append(f"admitting {index}")
    await context.broker.admission_waits.wait()
    return begin(request, context, index)


def begin(request: Any, context: RequestContext, index: int) -> Any:
    context.broker.story.append(f"produce {index}")
    if request.timeout == 1:
        return produce_response(request)
    future = asyncio.get_running_loop().create_future()
    context.broker.pending.append((future, request))
    return future


async def fetch(request: Any, context: RequestContext) -> Any:
    context.broker.story.append("fetch")
    try:
        await context.broker.fetch_waits.wait()
    except asyncio.CancelledError:
        context.broker.story.append("fetch cancelled")
        raise
    api = messages.api(FETCH)
    partition = api.PartitionData(partition_index=0, records=bytes(context.broker.fetch_bytes))
    return api.Response(responses=[api.FetchableTopicResponse(topic="t", partitions=[partition])])


async def heartbeat(request: Any, context: RequestContext) -> Any:
    context.broker.story.append(f"begin {request.group_id}")
    await context.broker.heartbeat_waits.wait()
    await asyncio.sleep(0)
    context.broker.story.append(f"end {request.group_id}")
    if request.group_id == "boom":
        raise ZeroDivisionError("a fault in a handler")
    return messages.api(HEARTBEAT).Response()


async def metadata(request: Any, context: RequestContext) -> Any:
    raise ZeroDivisionError("a fault in a handler without an error shape")


def heartbeat_error(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return messages.api(HEARTBEAT).Response(error_code=code)


APIS = [
    Api(key=PRODUCE, name="Produce", versions=(3, 13), needs=ANYONE, advertised_min=0, start=start_produce),
    Api(key=FETCH, name="Fetch", versions=(4, 18), needs=ANYONE, handle=fetch, overlaps=True),
    Api(key=3, name="Metadata", versions=(0, 13), needs=ANYONE, handle=metadata),
    Api(
        key=HEARTBEAT, name="Heartbeat", versions=(0, 4), needs=ANYONE, handle=heartbeat, error_response=heartbeat_error
    ),
]


class WatchedBytes(InflightBytes):
    """Remembers the most that was ever held."""

    highest = 0
    _now = 0

    @property
    def _held(self) -> int:  # type: ignore[override]
        return self._now

    @_held.setter
    def _held(self, value: int) -> None:
        self._now = value
        self.highest = max(self.highest, value)


class Serving:
    def __init__(self, limits: ServerLimits, apis: Iterable[Api]) -> None:
        self.log = Log()
        self.metrics = Counted()
        self.inflight = WatchedBytes(limits.inflight_bytes_max)
        self.server = KafkaServer(
            registry=ApiTable(apis), broker=self.log, metrics=self.metrics, limits=limits, inflight=self.inflight
        )

    async def client(self, address: str = "127.0.0.1") -> "RawClient":
        """`address`: the client's own."""
        opened = await asyncio.open_connection("127.0.0.1", self.server.port, local_addr=(address, 0))
        return RawClient(*opened)


class RawClient:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def payload(self) -> bytes:
        (length,) = struct.unpack(">i", await asyncio.wait_for(self.reader.readexactly(4), PATIENCE_S))
        return await asyncio.wait_for(self.reader.readexactly(length), PATIENCE_S)

    async def correlation_id(self) -> int:
        return int(struct.unpack_from(">i", await self.payload())[0])

    async def is_closed_by_server(self) -> bool:
        try:
            return await asyncio.wait_for(self.reader.read(1), PATIENCE_S) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def serving(apis: Iterable[Api] = APIS, **limits: int) -> AsyncIterator[Serving]:
    one = Serving(ServerLimits(**limits), apis)
    await one.server.start("127.0.0.1", 0)
    try:
        yield one
    finally:
        one.log.heartbeat_waits.set()
        one.log.admission_waits.set()
        one.log.fetch_waits.set()
        await one.server.drain(timeout_ms=0)
        one.log.finish_all()
        await asyncio.sleep(0.01)
        assert one.inflight.held == 0, "bytes were not given back"

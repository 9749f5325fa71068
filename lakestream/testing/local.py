"""LocalLakestream: brokers in this process, on real sockets, over one store.

    async with LocalLakestream(brokers=2) as lakestream:
        producer = AIOKafkaProducer(bootstrap_servers=lakestream.bootstrap)

Nothing is mocked: this is the code of a broker process, with everything in memory unless urls say otherwise. A failed
background task, which would stop a broker process, is raised at the end.
"""

import socket
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType

from lakestream.broker.broker import Broker, BrokerLimits, build_broker
from lakestream.broker.metrics import Metrics
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import ApiTable
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.limits import ServerLimits
from lakestream.protocol.kafka.server import KafkaServer
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import ThreadPool

HOST = "127.0.0.1"
FIRST_BROKER_ID = 1
DRAIN_MS_MAX = 5_000
_THREADS = 4


class LocalLakestream:
    def __init__(
        self,
        *,
        brokers: int = 1,
        racks: Sequence[str] = (),
        limits: BrokerLimits | None = None,
        server_limits: ServerLimits | None = None,
        metadata: str = "sqlite:///:memory:",
        objects: str = "memory://",
        tls: ssl.SSLContext | None = None,
        mechanisms: Sequence[str] = (),
    ) -> None:
        """With `mechanisms`, clients log in by SASL: the policy of access in `limits` must say so too. `racks` are the
        zones of the brokers, in order. Further brokers have none."""
        self._count = brokers
        self._racks = racks
        self._limits = limits or BrokerLimits()
        self._server_limits = server_limits or ServerLimits()
        self._metadata_url = metadata
        self._objects_url = objects
        self._tls = tls
        self._mechanisms = mechanisms
        self._clock = SystemClock()
        self._ids = Ids(self._clock, SystemChance())
        self._stack = AsyncExitStack()
        self._broken: list[BaseException] = []
        self.brokers: list[Broker] = []
        self.servers: list[KafkaServer] = []
        self.metrics: list[Metrics] = []

    @property
    def addresses(self) -> list[str]:
        """host:port of every broker."""
        return [f"{HOST}:{server.port}" for server in self.servers]

    @property
    def bootstrap(self) -> str:
        return ",".join(self.addresses)

    async def __aenter__(self) -> "LocalLakestream":
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()
        if self._broken and error is None:
            raise self._broken[0]

    async def _start(self) -> None:
        threads = ThreadPool(_THREADS, "work")
        self._stack.callback(threads.close)
        objects = await open_objects(self._objects_url, clock=self._clock, ids=self._ids, threads=threads)
        self._stack.push_async_callback(objects.close)
        store = await open_store(self._metadata_url, clock=self._clock, ids=self._ids)
        self._stack.push_async_callback(store.close)
        for number in range(self._count):
            await self._start_broker(number, store, objects, threads)
        for broker in self.brokers:
            await broker.cluster.refresh_live()  # brokers started first do not know the later ones yet

    async def _start_broker(self, number: int, store: MetadataStore, objects: ObjectStore, threads: ThreadPool) -> None:
        metrics = Metrics()
        port = _free_port()
        broker = await build_broker(
            BrokerSpec(
                id=FIRST_BROKER_ID + number,
                host=HOST,
                port=port,
                rack=self._racks[number] if number < len(self._racks) else None,
                http=f"{HOST}:0",
            ),
            self._limits,
            store=store,
            objects=objects,
            clock=self._clock,
            ids=self._ids,
            threads=threads,
            tasks=Tasks(on_failure=self._failed),
            metrics=metrics,
        )
        await broker.start()
        self._stack.push_async_callback(broker.drain)
        server = KafkaServer(
            registry=ApiTable(APIS),
            broker=broker,
            metrics=metrics,
            limits=self._server_limits,
            tls=self._tls,
            mechanisms=self._mechanisms,
        )
        await server.start(HOST, port)
        self._stack.push_async_callback(server.drain, DRAIN_MS_MAX)
        self._stack.callback(broker.let_go)
        self.brokers.append(broker)
        self.servers.append(server)
        self.metrics.append(metrics)

    def _failed(self, task: str, error: BaseException) -> None:
        """An error of a store was reported to the caller already. Anything else is a fault."""
        if not isinstance(error, LakestreamError):
            self._broken.append(error)


def _free_port() -> int:
    """Choose the port beforehand: clients learn it before the server listens on it."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])

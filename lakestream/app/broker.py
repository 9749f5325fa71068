"""The broker process: wires together stores, log, Kafka server and health pages.

open stores -> bind sockets -> join the cluster -> serve -> (SIGTERM) stop accepting -> answer -> flush -> leave
"""

import asyncio
from functools import partial

import structlog
from prometheus_client import disable_created_metrics
from starlette.applications import Starlette

from lakestream.app.broker_health import Health
from lakestream.app.kafka_security import mechanisms_of, principal_of, tls_of
from lakestream.broker.broker import Broker, BrokerLimits, build_broker
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.metrics import Metrics
from lakestream.metadata.open import open_store
from lakestream.model.broker import BrokerSpec
from lakestream.model.errors import InvalidSetting, LakestreamError
from lakestream.process.access import access_policy, cluster_gate
from lakestream.process.life import Life, serve
from lakestream.process.logs import set_up_logs
from lakestream.protocol.kafka.api import ApiTable
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.inflight import InflightBytes
from lakestream.protocol.kafka.limits import ServerLimits
from lakestream.protocol.kafka.server import KafkaServer
from lakestream.protocol.rest.server import HttpServer
from lakestream.settings.model import GroupSettings, Settings
from lakestream.storage.garbage.duties import garbage_limits
from lakestream.storage.records.warm import warm
from lakestream.storage.wal.flusher import WalLimits
from lakestream.storage.wal.inline_budget import InlineLimits
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import ThreadPool

log = structlog.get_logger(__name__)

DRAIN_MS_MAX = 10_000
PUTS_PER_SECOND_REMOTE = 4.0
"""A put costs money there: 4 a second are about 50 dollars a month."""
PUTS_PER_SECOND_FILES = 50.0
_WORK_THREADS = 4
"""For validation and decompression, which release the GIL."""
_READ_THREADS = 8
"""Separate from the uploads, so that reads do not queue behind an fsync."""


def serve_broker(settings: Settings, *, supervised: bool) -> None:
    """Runs until SIGTERM."""
    set_up_logs(settings.log, process=f"broker-{settings.broker.id}")
    # Otherwise every counter has a second series with the start time of the process.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    serve(partial(_broker, settings), supervised=supervised)


async def _broker(settings: Settings, life: Life) -> None:
    clock, metrics = SystemClock(), Metrics()
    ids = Ids(clock, SystemChance())
    tasks = Tasks(on_failure=partial(_background_failure, life))
    work = ThreadPool(_WORK_THREADS, "work")
    disk = ThreadPool(settings.wal.uploads_in_flight + _READ_THREADS, "objects")
    warming = asyncio.create_task(work.run(warm))
    options = settings.objects_options
    objects = await open_objects(settings.objects_url, clock=clock, ids=ids, threads=disk, options=options)
    store = await open_store(settings.metadata_url, clock=clock, ids=ids)
    health = Health(store=store, metrics=metrics)
    gate = await cluster_gate(settings, store)
    http = HttpServer(Starlette(routes=health.routes()), *settings.broker.http, gate=gate)
    broker = await build_broker(
        _spec(settings, http.port),
        _limits(settings, objects),
        store=store,
        objects=objects,
        clock=clock,
        ids=ids,
        threads=work,
        tasks=tasks,
        metrics=metrics,
    )
    health.watch(broker.cluster, broker.groups, broker.directory, broker.fetching.losses)
    http.start()
    await broker.start()
    await _warmed(warming)
    servers = await _listen(settings, broker, metrics)
    log.info("broker ready", kafka=_addresses(settings), objects=objects.url)
    life.ready({"kafka": _addresses(settings)})
    await life.stopped()
    log.info("draining")
    await _drain(servers, broker)
    await http.stop()
    await store.close()
    await objects.close()
    disk.close()
    work.close()
    log.info("drained")


async def _warmed(warming: "asyncio.Task[int]") -> None:
    """The record kernels load while the stores open. Wait for them, or the first producers would have to."""
    if compiled := await warming:
        log.info("record kernels were compiled; later starts find them in the cache", kernels=compiled)


async def _listen(settings: Settings, broker: Broker, metrics: Metrics) -> list[KafkaServer]:
    """A server for each listener. Together they hold no more request bytes than one server may."""
    limits = ServerLimits(
        frame_bytes_max=settings.kafka.frame_bytes_max,
        inflight_bytes_max=settings.kafka.inflight_bytes_max,
        connections_max=settings.kafka.connections_max,
        connections_per_address_max=settings.kafka.connections_per_address_max,
    )
    registry, inflight = ApiTable(APIS), InflightBytes(limits.inflight_bytes_max)
    servers: list[KafkaServer] = []
    tls = tls_of(settings.kafka)
    for address in settings.kafka.listeners:
        server = KafkaServer(
            registry=registry,
            broker=broker,
            metrics=metrics,
            limits=limits,
            inflight=inflight,
            listener=settings.kafka.protocol,
            tls=tls,
            mechanisms=mechanisms_of(settings.kafka),
            principal_of=principal_of,
        )
        try:
            await server.start(address.host, address.port)
        except OSError as error:
            raise InvalidSetting(f"kafka.listeners: cannot listen on {address}: {error.strerror}") from error
        servers.append(server)
    return servers


async def _drain(servers: list[KafkaServer], broker: Broker) -> None:
    """Drain within a time limit. Later requests were not acknowledged, so their producers retry elsewhere."""
    broker.let_go()
    await asyncio.gather(*(server.drain(DRAIN_MS_MAX) for server in servers))
    try:
        await asyncio.wait_for(broker.drain(), DRAIN_MS_MAX / 1000)
    except (TimeoutError, LakestreamError) as error:
        log.warning("left without having finished", error=str(error) or type(error).__name__)


def _spec(settings: Settings, http_port: int) -> BrokerSpec:
    advertised = settings.kafka.advertised or settings.kafka.listeners[0]
    return BrokerSpec(
        id=settings.broker.id,
        host=advertised.host,
        port=advertised.port,
        rack=settings.broker.rack,
        http=str(settings.broker.http._replace(port=http_port)),
    )


def _limits(settings: Settings, objects: ObjectStore) -> BrokerLimits:
    by_store = PUTS_PER_SECOND_REMOTE if objects.is_remote else PUTS_PER_SECOND_FILES
    return BrokerLimits(
        lease_ms=settings.broker.lease_ms,
        cache_bytes=settings.wal.cache_bytes,
        inner_validation=settings.produce.validation == "full",
        auto_create_topics=settings.kafka.auto_create_topics,
        partitions_default=settings.kafka.num_partitions,
        wal=WalLimits(
            segment_bytes=settings.wal.segment_bytes,
            linger_seconds=settings.wal.linger_ms / 1000,
            puts_per_second=settings.wal.puts_per_second or by_store,
            uploads_max=settings.wal.uploads_in_flight,
            inline=InlineLimits(
                flush_bytes_max=settings.wal.inline_bytes_max,
                bytes_per_second=settings.wal.inline_bytes_per_second,
                at_rest_bytes_max=settings.wal.inline_bytes_at_rest_max,
                move_seconds=settings.wal.inline_move_ms / 1000,
            ),
        ),
        garbage=garbage_limits(settings.wal.grace_ms),
        groups=_group_limits(settings.group),
        access=access_policy(settings),
    )


def _group_limits(group: GroupSettings) -> GroupLimits:
    return GroupLimits(
        session_timeout_ms_min=group.session_timeout_ms_min,
        session_timeout_ms_max=group.session_timeout_ms_max,
        initial_rebalance_delay_ms=group.initial_rebalance_delay_ms,
        members_max=group.members_max,
        consumer_session_timeout_ms=group.consumer_session_timeout_ms,
        consumer_heartbeat_interval_ms=group.consumer_heartbeat_interval_ms,
        share_session_timeout_ms=group.share_session_timeout_ms,
        share_heartbeat_interval_ms=group.share_heartbeat_interval_ms,
        share_members_max=group.share_members_max,
        share_record_lock_ms=group.share_record_lock_duration_ms,
        share_delivery_limit=group.share_delivery_count_limit,
        share_record_locks=group.share_partition_record_locks_max,
        offset_metadata_max=group.offset_metadata_bytes_max,
        offsets_retention_ms=group.offsets_retention_ms,
    )


def _addresses(settings: Settings) -> str:
    return ",".join(map(str, settings.kafka.listeners))


def _background_failure(life: Life, task: str, error: BaseException) -> None:
    """A part that should run for ever has ended. A fresh start is safer than going on without it."""
    log.error("background work broke; the broker stops and should be started again", task=task, exc_info=error)
    life.crash()

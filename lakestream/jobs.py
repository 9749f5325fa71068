"""The pipeline process: stores, a Spark session, and rounds of compaction. The only process that loads Spark.

open stores -> ready -> claim the lease; open the Spark session -> rounds -> (SIGTERM) end the round -> leave

It is ready before Spark is, which takes some seconds: the log does not wait for its tables.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from functools import partial

import structlog
from prometheus_client import disable_created_metrics, generate_latest
from starlette.applications import Starlette

from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.process.access import cluster_gate
from lakestream.process.life import Life, serve
from lakestream.process.logs import set_up_logs
from lakestream.process.merge_limits import merge_limits
from lakestream.protocol.rest.brokers import ANSWERS_AT
from lakestream.protocol.rest.health import READY, health_routes
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.protocol.rest.server import HttpServer
from lakestream.settings.model import Settings
from lakestream.table.building import build_pipeline
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.lease import LeaseKeeper
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.pipeline import Pipeline
from lakestream.table.serving import run_rounds
from lakestream.table.spark.rewriter import SparkRewriter
from lakestream.table.spark.session import SparkLimits, is_local, open_session
from lakestream.world.chance import SystemChance
from lakestream.world.clock import Clock, SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import ThreadPool

log = structlog.get_logger(__name__)

_DISK_THREADS = 8
_WARM_SECONDS = 30.0
"""A warning that Spark runs nothing yet comes so often: a cold start on a busy machine takes ten seconds."""


def serve_pipeline(settings: Settings, *, supervised: bool) -> None:
    """Until SIGTERM."""
    set_up_logs(settings.log, process="pipeline")
    # Otherwise every counter has a second series that says when the process started.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    serve(partial(_pipeline, settings), supervised=supervised)


async def _pipeline(settings: Settings, life: Life) -> None:
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    disk, waiting = ThreadPool(_DISK_THREADS, "objects"), ThreadPool(1, "spark")
    options = settings.objects_options
    objects = await open_objects(settings.objects_url, clock=clock, ids=ids, threads=disk, options=options)
    store = await open_store(settings.metadata_url, clock=clock, ids=ids)
    tasks = Tasks(on_failure=partial(_broken, life))
    metrics = PipelineMetrics()
    if not is_local(settings.spark.master) and objects.url.startswith("file:"):
        log.warning("the object store is a folder: all of Spark's workers must see it under its path", url=objects.url)
    gate = await cluster_gate(settings, store)
    http = HttpServer(Starlette(routes=pipeline_pages(store, metrics)), *settings.pipeline.http, gate=gate)
    address = settings.pipeline.http._replace(port=http.port)
    name = f"pipeline-{socket.gethostname()}-{ids.ulid()}{ANSWERS_AT}{address}"
    lease = LeaseKeeper(store, holder=name, clock=clock, ttl_ms=settings.pipeline.lease_ms)
    http.start()
    life.ready({})
    _leave_stdout_alone()
    tasks.spawn(lease.keep(), name="compaction-lease")
    opening = asyncio.ensure_future(waiting.run(open_session, _spark_limits(settings)))
    stopped = asyncio.ensure_future(life.stopped())
    await asyncio.wait([opening, stopped], return_when=asyncio.FIRST_COMPLETED)
    session = await opening  # it cannot be called off; the supervisor has patience
    rewriter = SparkRewriter(session, waiting)
    if not stopped.done():
        pipeline = build_pipeline(
            store=store,
            objects=objects,
            objects_options=options,
            rewriter=rewriter,
            limits=PlanLimits(),
            parallel=rewriter.parallel,
            merge_limits=merge_limits(settings.maintenance),
            grace_ms=settings.wal.grace_ms,
            clock=clock,
            ids=ids,
            threads=disk,
            metrics=metrics,
        )
        tasks.spawn(_rounds(pipeline, rewriter, lease, clock, life), name="rounds")
    try:
        await stopped
    finally:
        rewriter.cancel()
        await tasks.close()
        await lease.leave()
        await rewriter.close()
        await http.stop()
        await store.close()
        await objects.close()
        disk.close()
        waiting.close()
    log.info("drained")


async def _rounds(pipeline: Pipeline, rewriter: SparkRewriter, lease: LeaseKeeper, clock: Clock, life: Life) -> None:
    await _warm(rewriter)
    log.info("pipeline ready", cores=rewriter.parallel())
    await run_rounds(pipeline, lease, clock, tidy=life.tidy)


async def _warm(rewriter: SparkRewriter) -> None:
    """A cluster that is full, or whose workers are too small, gives Spark no executors, and Spark waits in silence."""
    warming = asyncio.ensure_future(rewriter.warm_up())
    try:
        while not (await asyncio.wait([warming], timeout=_WARM_SECONDS))[0]:
            log.warning(
                "Spark has not run its first tasks yet. Does the cluster have free executors of the wanted size "
                "(spark.executor.memory, spark.executor.cores)? Its own pages and the logs of executors tell more"
            )
        await warming
    finally:
        warming.cancel()


def pipeline_pages(store: MetadataStore, metrics: PipelineMetrics) -> list[AccessRoute]:
    """Health and metrics, for the gateway."""

    async def parts() -> Mapping[str, str]:
        try:
            await store.now_ms()
        except LakestreamError as error:
            return {"metadata": str(error)}
        return {"metadata": READY}

    async def exposition() -> bytes:
        return generate_latest(metrics.registry)

    return health_routes(parts, exposition)


def _leave_stdout_alone() -> None:
    """The supervisor reads one line of it; what Java prints belongs to the logs."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _spark_limits(settings: Settings) -> SparkLimits:
    spark = settings.spark
    return SparkLimits(master=spark.master, driver_memory=spark.driver_memory, conf=spark.conf)


def _broken(life: Life, task: str, error: BaseException) -> None:
    log.error("background work broke; the pipeline stops and should be started again", task=task, exc_info=error)
    life.crash()

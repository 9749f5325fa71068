"""The gateway process: HTTP for people, tools and engines, over the metadata store, the tables and the live brokers."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import structlog
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount

from lakestream.access.authorizer import Authorizer
from lakestream.access.logins import Logins
from lakestream.access.tokens import LoginTokens
from lakestream.administration.administration import build_administration
from lakestream.administration.desk import build_desk
from lakestream.administration.groups import GroupAnswers
from lakestream.administration.processes import PIPELINE
from lakestream.administration.sql.box import QueryLake
from lakestream.administration.sql_first.declared_columns import DeclaredColumns
from lakestream.administration.sql_first.inserted_rows import InsertedRows
from lakestream.administration.sql_first.sql_topics import SqlTopics
from lakestream.administration.traffic import Traffic
from lakestream.app.sql_lake import INNER_HOST, lake_of, no_lake
from lakestream.app.table_roots import open_roots
from lakestream.app.tls import http_tls
from lakestream.broker.located import LocatedObjects
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.console.pages import console_routes
from lakestream.contract.registry.registry import Registry
from lakestream.contract.topic.altering.contract import AlteringContracts
from lakestream.contract.topic.following import FollowingTables
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import STREAMS
from lakestream.model.table_errors import NamespaceExists
from lakestream.process.access import access_policy
from lakestream.process.life import Life, serve
from lakestream.process.logs import set_up_logs
from lakestream.process.merge_limits import merge_limits
from lakestream.protocol.rest.access.callers import Gate, LoginGate, open_gate
from lakestream.protocol.rest.access.logins import HttpLogins
from lakestream.protocol.rest.admin import admin_routes
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.catalog.branch_fields import branch_fields
from lakestream.protocol.rest.catalog.oauth import oauth_routes
from lakestream.protocol.rest.catalog.routes import catalog_routes
from lakestream.protocol.rest.compaction import compaction_routes, maintenance_routes
from lakestream.protocol.rest.gateway_pages import GatewayPages
from lakestream.protocol.rest.groups.asking import BrokerGroups
from lakestream.protocol.rest.groups.of_gateway import group_routes
from lakestream.protocol.rest.health import health_routes
from lakestream.protocol.rest.paths import CATALOG_PATH, REGISTRY_PATH
from lakestream.protocol.rest.quarantine import quarantine_routes
from lakestream.protocol.rest.rebuilds import rebuild_routes
from lakestream.protocol.rest.registry.routes import registry_app
from lakestream.protocol.rest.same_origin import SameOrigin
from lakestream.protocol.rest.server import HttpServer
from lakestream.protocol.rest.settings import SettingsTable, settings_routes
from lakestream.protocol.rest.sql import sql_routes
from lakestream.protocol.rest.summary import summary_routes
from lakestream.protocol.rest.topic_table import topic_table_routes
from lakestream.protocol.rest.topics.log import topic_log_routes
from lakestream.protocol.rest.topics.routes import topic_routes
from lakestream.protocol.rest.traffic import traffic_routes
from lakestream.protocol.rest.transactions import transaction_routes
from lakestream.settings.model import Settings
from lakestream.world.chance import SystemChance
from lakestream.world.clock import Clock, SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import ThreadPool, Threads

log = structlog.get_logger(__name__)

_DISK_THREADS = 4
"""For metadata files and manifests of tables on a file store."""
_SCHEMA_THREADS = 2
"""Parsing and comparing schemas is pure Python: more threads would not help, and with one a slow schema blocks all."""
_PASSWORD_THREADS = 2
"""Guesses of passwords cannot take more than these from everything else."""


def serve_gateway(
    settings: Settings, *, supervised: bool, no_pipeline: str | None = None, shown_settings: SettingsTable = ()
) -> None:
    """Runs until SIGTERM. `no_pipeline`: why no pipeline was started with it, if that is known. `shown_settings`: the
    settings with their sources, without secrets."""
    set_up_logs(settings.log, process="gateway")
    serve(partial(_gateway, settings, no_pipeline, shown_settings), supervised=supervised)


async def _gateway(settings: Settings, no_pipeline: str | None, shown_settings: SettingsTable, life: Life) -> None:
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    disk = ThreadPool(_DISK_THREADS, "objects")
    schemas = ThreadPool(_SCHEMA_THREADS, "schemas")
    passwords = ThreadPool(_PASSWORD_THREADS, "passwords")
    options = settings.objects_options
    objects = await open_objects(settings.objects_url, clock=clock, ids=ids, threads=disk, options=options)
    roots = await open_roots(settings.catalog.roots, objects, clock=clock, ids=ids, threads=disk, options=options)
    store = await open_store(settings.metadata_url, clock=clock, ids=ids)
    with suppress(NamespaceExists):
        await store.tables.create_namespace(STREAMS, {})
    secret = await store.access.cluster_secret()
    brokers, groups = BrokerPages(secret), BrokerGroups(secret)
    traffic = Traffic(store, brokers, clock)
    tasks = Tasks(on_failure=partial(_background_failure, life))
    authorizer = Authorizer(access_policy(settings), store, clock, tasks)
    await authorizer.start()
    known = Logins(authorizer, secret, clock=clock, ids=ids, threads=passwords)
    logins = HttpLogins(known, LoginTokens(authorizer, secret, clock))
    routes = gateway_routes(
        store=store,
        objects=objects,
        brokers=brokers,
        schema_threads=schemas,
        clock=clock,
        ids=ids,
        grace_ms=settings.wal.grace_ms,
        limits_of_merges=merge_limits(settings.maintenance),
        no_pipeline=no_pipeline,
        roots=roots,
        groups=groups,
        traffic=traffic,
        partitions_default=settings.kafka.num_partitions,
        shown_settings=shown_settings,
        lake=lambda: lake_of(settings, (inner or server).port),
        logins=logins,
    )
    app = SameOrigin(Starlette(routes=routes))
    gate: Gate = open_gate
    if authorizer.policy.authorize or settings.http.login:
        gate = LoginGate(logins, authorizer.access_of, must_log_in=settings.http.login)
    tls = http_tls(settings.http)
    server = HttpServer(app, *settings.http.listen, gate=gate, tls=tls)
    inner = None if tls is None else HttpServer(app, INNER_HOST, 0, gate=gate)
    servers = [each for each in (server, inner) if each is not None]
    for each in servers:
        each.start()
    sampling = asyncio.create_task(traffic.run(), name="traffic")
    address = settings.http.listen._replace(port=server.port)
    log.info("gateway ready", http=str(address))
    life.ready({"http": str(address)})
    await life.stopped()
    sampling.cancel()
    for each in servers:
        await each.stop()
    await groups.close()
    await tasks.close()
    await brokers.close()
    await store.close()
    for opened in (*roots, objects):
        await opened.close()
    disk.close()
    schemas.close()
    passwords.close()


def _background_failure(life: Life, task: str, error: BaseException) -> None:
    """The gateway must not go on with old ACLs. A fresh start is safer."""
    log.error("background work broke; the gateway stops and should be started again", task=task, exc_info=error)
    life.crash()


def gateway_routes(
    *,
    store: MetadataStore,
    objects: ObjectStore,
    brokers: BrokerPages,
    schema_threads: Threads,
    clock: Clock,
    ids: Ids,
    grace_ms: int,
    limits_of_merges: MergeLimits | None = None,
    no_pipeline: str | None = None,
    roots: Sequence[ObjectStore] = (),
    groups: GroupAnswers | None = None,
    traffic: Traffic | None = None,
    partitions_default: int = 1,
    shown_settings: SettingsTable = (),
    lake: Callable[[], QueryLake] = no_lake,
    logins: HttpLogins | None = None,
) -> list[BaseRoute]:
    """Everything that the gateway serves. The catalog and administration share one set of metadata files in memory.
    `roots`: where ordinary tables may lie besides. Without `logins` nobody can log in. The
    caller closes `groups`, and runs `traffic` to have samples."""
    locations = TableObjects(objects, other_roots=roots)
    files = MetadataFiles(locations, ids=ids)
    administration = build_administration(
        store=store,
        locations=locations,
        files=files,
        answers=brokers,
        clock=clock,
        ids=ids,
        schema_threads=schema_threads,
        objects_url=objects.url,
        grace_ms=grace_ms,
        no_pipeline=no_pipeline,
        merge_limits=limits_of_merges,
    )
    followers = FollowingTables(store=store, threads=schema_threads)
    registry = Registry(store=store.registry, threads=schema_threads, followers=followers)
    writers = RegisteredWriters(store.registry, schema_threads)
    tables = TableCatalog(
        store=store.tables,
        objects=locations,
        files=files,
        clock=clock,
        ids=ids,
        delete_topic=store.delete_topic,
        branch_fields=branch_fields,
        topic_planner=SqlTopics(registry, writers),
        rows_as_records=InsertedRows(LocatedObjects(objects)),
        columns_of_records=DeclaredColumns(
            store=store,
            altering=AlteringContracts(
                store=store.registry, registry=registry, writers=writers, threads=schema_threads
            ),
        ),
    )
    desk = build_desk(
        administration,
        tables=tables,
        store=store,
        objects=objects,
        locations=locations,
        files=files,
        groups=groups or BrokerGroups(),
        traffic=traffic or Traffic(store, brokers, clock),
        clock=clock,
        ids=ids,
        threads=schema_threads,
        partitions_default=partitions_default,
        grace_ms=grace_ms,
        lake=lake,
    )
    pages = GatewayPages(administration, brokers)
    catalog = catalog_routes(
        store=store.tables,
        objects=locations,
        files=files,
        clock=clock,
        ids=ids,
        tables=tables,
        fresh_reads=administration.fresh_reads,
    )
    return [
        *health_routes(pages.states, pages.metrics, dispensable=[PIPELINE]),
        *admin_routes(administration.overview),
        *topic_table_routes(administration.topic_tables, store.jobs),
        *topic_log_routes(administration.topic_logs),
        *compaction_routes(administration.compaction),
        *quarantine_routes(administration.quarantine, administration.repairs),
        *maintenance_routes(administration.maintenance),
        *rebuild_routes(administration.rebuilds),
        *topic_routes(desk),
        *group_routes(desk.groups),
        *transaction_routes(desk.transactions),
        *summary_routes(desk.summaries, desk.catalog),
        *traffic_routes(desk.traffic),
        *settings_routes(shown_settings),
        *sql_routes(desk.sql),
        *console_routes(administration, desk, shown_settings, logins),
        Mount(CATALOG_PATH, routes=[*([] if logins is None else oauth_routes(logins)), *catalog]),
        Mount(REGISTRY_PATH, app=registry_app(store=store.registry, threads=schema_threads, followers=followers)),
    ]

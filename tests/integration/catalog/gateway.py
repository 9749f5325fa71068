"""A gateway's catalog in this process, on a real socket, in a thread of its own: engines block the test's thread.

with running_catalog(folder) as catalog:
    catalog.uri                       what engines attach to
    catalog.run(coroutine)            on the catalog's own loop
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.routing import Mount

from lakestream.administration.fresh_reads import FreshReads
from lakestream.app.table_roots import open_roots
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import STREAMS
from lakestream.protocol.rest.catalog.branch_fields import branch_fields
from lakestream.protocol.rest.catalog.routes import catalog_routes
from lakestream.protocol.rest.paths import CATALOG_PATH
from lakestream.protocol.rest.server import HttpServer
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import ThreadPool

T = TypeVar("T")

_START_SECONDS_MAX = 20


@dataclass
class RunningCatalog:
    uri: str
    folder: Path
    loop: asyncio.AbstractEventLoop
    store: MetadataStore
    commits: TopicCommits
    ids: Ids

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)


@contextmanager
def running_catalog(
    folder: Path, *, metadata: str | None = None, roots: Sequence[str] = ()
) -> Iterator[RunningCatalog]:
    """`roots`: the setting catalog.roots."""
    started: list[RunningCatalog] = []
    ready, stop = threading.Event(), threading.Event()
    serving = partial(_serve, folder, metadata, roots, started, ready, stop)
    thread = threading.Thread(target=lambda: asyncio.run(serving()), daemon=True)
    thread.start()
    assert ready.wait(_START_SECONDS_MAX), "the catalog did not start"
    try:
        yield started[0]
    finally:
        stop.set()
        thread.join(_START_SECONDS_MAX)


async def _serve(
    folder: Path,
    metadata: str | None,
    roots: Sequence[str],
    started: list[RunningCatalog],
    ready: threading.Event,
    stop: threading.Event,
) -> None:
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    threads = ThreadPool(4, "objects")
    objects = await open_objects((folder / "objects").as_uri(), clock=clock, ids=ids, threads=threads)
    store = await open_store(metadata or f"sqlite://{folder}/metadata.db", clock=clock, ids=ids)
    await store.tables.create_namespace(STREAMS, {})
    others = await open_roots(roots, objects, clock=clock, ids=ids, threads=threads, options={})
    table_objects = TableObjects(objects, other_roots=others)
    files = MetadataFiles(table_objects, ids=ids)
    tables = TableCatalog(
        store=store.tables,
        objects=table_objects,
        files=files,
        clock=clock,
        ids=ids,
        delete_topic=store.delete_topic,
        branch_fields=branch_fields,
    )
    routes = catalog_routes(
        store=store.tables,
        objects=table_objects,
        files=files,
        clock=clock,
        ids=ids,
        tables=tables,
        fresh_reads=FreshReads(store.jobs, clock),
    )
    server = HttpServer(Starlette(routes=[Mount(CATALOG_PATH, routes=routes)]), "127.0.0.1", 0)
    server.start()
    commits = TopicCommits(objects=table_objects, files=MetadataFiles(table_objects, ids=ids), clock=clock, ids=ids)
    uri = f"http://127.0.0.1:{server.port}{CATALOG_PATH}"
    started.append(
        RunningCatalog(uri=uri, folder=folder, loop=asyncio.get_running_loop(), store=store, commits=commits, ids=ids)
    )
    ready.set()
    while not stop.is_set():
        await asyncio.sleep(0.05)
    await server.stop()
    await store.close()
    await objects.close()
    threads.close()

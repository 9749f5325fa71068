"""Open a SQLite store: its connections, its threads, and its tables brought up to date.

folder -> connect (WAL mode) -> migrate -> writer, reader, alarm
"""

import sqlite3
from collections.abc import Callable

from lakestream.metadata.cluster_id import new_cluster_id
from lakestream.metadata.sqlite.alarm import Alarm
from lakestream.metadata.sqlite.connection import (
    BUSY_SECONDS_MAX,
    MEMORY,
    connect,
    database_of,
    is_busy,
    make_folder,
    plain_errors,
)
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.migrate import migrate
from lakestream.metadata.sqlite.store import SqliteStore
from lakestream.metadata.sqlite.turn import AlwaysOurTurn, FileTurn
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.threads import Threads

_OPEN_POLL_SECONDS = 0.02

OneThread = Callable[[str], Threads]
"""Makes a single thread of the given name. Work runs in it in the order of submission."""


async def open_sqlite(url: str, *, clock: Clock, ids: Ids, one_thread: OneThread) -> SqliteStore:
    database = database_of(url)
    make_folder(database)
    threads = one_thread("metadata-writer")
    try:
        with plain_errors(database):
            connection = await _connect_patiently(database, threads, clock)
            cluster_id = await threads.run(_prepare, connection, url, new_cluster_id(ids), clock.wall_ms())
    except BaseException:
        threads.close()
        raise
    writing = Lane(connection, database=database, threads=threads)
    return SqliteStore(
        url,
        cluster_id=cluster_id,
        writing=writing,
        # A database in memory belongs to its one connection, so its reads queue with the writes.
        reading=writing if database == MEMORY else _lane_of_its_own(database, one_thread("metadata-reader")),
        turn=AlwaysOurTurn() if database == MEMORY else FileTurn(f"{database}-turn"),
        alarm=Alarm(None if database == MEMORY else connect(database), clock=clock),
        clock=clock,
    )


def _lane_of_its_own(database: str, threads: Threads) -> Lane:
    return Lane(connect(database), database=database, threads=threads)


async def _connect_patiently(database: str, writing: Threads, clock: Clock) -> sqlite3.Connection:
    """Connect, and retry: switching a new file to WAL mode fails at once while another process does the same."""
    give_up_at = clock.monotonic() + BUSY_SECONDS_MAX
    while True:
        try:
            return await writing.run(connect, database)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or clock.monotonic() >= give_up_at:
                raise
            await clock.sleep(_OPEN_POLL_SECONDS)


def _prepare(connection: sqlite3.Connection, url: str, cluster_id: str, now_ms: int) -> str:
    try:
        migrate(connection, url, cluster_id, now_ms)
        kept: str = connection.execute("SELECT cluster_id FROM cluster").fetchone()[0]
    except BaseException:
        connection.close()
        raise
    return kept

"""Open the metadata store that a URL names: SQLite for one machine, PostgreSQL for a cluster."""

from lakestream.metadata.postgres.address import SCHEMES as POSTGRES_SCHEMES
from lakestream.metadata.postgres.opening import open_postgres
from lakestream.metadata.sqlite.connection import SCHEME as SQLITE_SCHEME
from lakestream.metadata.sqlite.opening import OneThread, open_sqlite
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import InvalidSetting
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.threads import ThreadPool, Threads


def one_thread(name: str) -> Threads:
    return ThreadPool(1, name)


def is_embedded(url: str) -> bool:
    """Whether the store that the URL names is a file of this machine: a commit costs an fsync and no round trip."""
    return url.startswith(SQLITE_SCHEME)


async def open_store(url: str, *, clock: Clock, ids: Ids, one_thread: OneThread = one_thread) -> MetadataStore:
    """Ready to use: tables are made, or brought up to date. Raises InvalidSetting, MetadataTooNew, StoreUnavailable.

    `one_thread` makes the threads that SQLite's blocking calls run in; a simulation passes inline ones.
    """
    if url.startswith(SQLITE_SCHEME):
        return await open_sqlite(url, clock=clock, ids=ids, one_thread=one_thread)
    if url.startswith(POSTGRES_SCHEMES):
        return await open_postgres(url, clock=clock, ids=ids)
    kind, named, _ = url.partition("://")  # the rest may have a password in it
    raise InvalidSetting(
        f"'{kind}{named}' is no metadata store: write sqlite:///path/to/metadata.db for one machine, "
        "or postgresql://user@host/database for a cluster"
    )

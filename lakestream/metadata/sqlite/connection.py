"""Open the SQLite file, and translate SQLite's errors into ours.

WAL mode lets readers continue during a write; synchronous=FULL makes a commit durable before it returns.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakestream.model.errors import Corrupt, InvalidSetting, LakestreamError, StorageFull, StoreUnavailable

SCHEME = "sqlite://"
MEMORY = ":memory:"

BUSY_SECONDS_MAX = 5.0
"""How long to wait for another process's transaction; ours take milliseconds."""

_CACHE_KIB = 64 * 1024
_CHECKPOINT_PAGES = 4_000
"""16 MiB of log before SQLite checkpoints: often enough to stay small, seldom enough to merge rewrites."""
_WAL_BYTES_MAX = 64 * 1024 * 1024
_STATEMENTS_KEPT = 256


def database_of(url: str) -> str:
    """The file of a URL: the part after `sqlite://`, or `:memory:`."""
    path = url.removeprefix(SCHEME)
    if path in (MEMORY, f"/{MEMORY}"):
        return MEMORY
    if not path or path.endswith("/"):
        raise InvalidSetting(f"'{url}' names no file: write sqlite:///path/to/metadata.db, or sqlite:///{MEMORY}")
    return path


def connect(database: str) -> sqlite3.Connection:
    """A connection for one thread at a time. Lakestream begins and ends its transactions."""
    connection = sqlite3.connect(
        database,
        timeout=BUSY_SECONDS_MAX,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS_KEPT,
    )
    try:
        _configure(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def make_folder(database: str) -> None:
    if database == MEMORY:
        return
    try:
        Path(database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"cannot make the folder of the metadata file {database}: {error.strerror}. "
            "Check its permissions, or choose another place with the setting 'metadata'"
        ) from error


@contextmanager
def plain_errors(database: str) -> Iterator[None]:
    """Raise SQLite's errors as ours. Our own errors pass unchanged."""
    try:
        yield
    except sqlite3.Error as error:
        raise error_for(error, database) from error


def error_for(error: sqlite3.Error, database: str) -> LakestreamError:
    """Our error for a failure, by SQLite's result code (its low byte; the rest says where it happened)."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(f"no room to write the metadata file {database}: free some space on its disk")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(f"the metadata file {database} is damaged or no SQLite file ({error}): restore it from a backup")
    if is_busy(error):
        return StoreUnavailable(
            f"the metadata file {database} was locked for more than {BUSY_SECONDS_MAX:g} s: "
            "try again; if it stays so, look for a process that holds it (a stopped broker, an open sqlite3 shell)"
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreUnavailable(
            f"the metadata file {database} cannot be opened for writing ({error}): check its path and permissions"
        )
    return StoreUnavailable(f"the metadata file {database} failed ({error}): check its disk, then try again")


def is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _configure(connection: sqlite3.Connection) -> None:
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "temp_store = MEMORY",
        f"cache_size = -{_CACHE_KIB}",
        f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
        f"journal_size_limit = {_WAL_BYTES_MAX}",
    ):
        connection.execute(f"PRAGMA {pragma}")

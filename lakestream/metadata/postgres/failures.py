"""Translate PostgreSQL's errors into ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from lakestream.model.errors import LakestreamError, StorageFull, StoreUnavailable

FENCED = "LS001"
"""The SQLSTATE with which commit_segment refuses a broker whose lease is gone."""

TRY_AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)
"""The server rolled the transaction back to let another one pass."""

_PASSING = (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction)
"""Lost or refused connections, shutdowns, timeouts, too many clients, a standby that has not taken over yet."""


@contextmanager
def plain_errors(shown_url: str) -> Iterator[None]:
    """Raise the server's failures as our errors. Mistakes in our own statements pass unchanged."""
    try:
        yield
    except errors.DiskFull as error:
        raise StorageFull(f"PostgreSQL at {shown_url} has no room: free some space on its disk") from error
    except _PASSING as error:
        raise _unavailable(error, shown_url) from error


def _unavailable(error: psycopg.Error, shown_url: str) -> LakestreamError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return StoreUnavailable(
        f"PostgreSQL at {shown_url} did not do it ({reason}): try again; if it stays so, check that it runs, "
        "can be reached and accepts writes"
    )

"""SqlBox: run a read-only query for somebody, within limits of time, memory and rows.

    query -> a place among QUERIES_AT_ONCE -> a process (worker.py) -> rows, or the reason why there are none

The process attaches to this gateway's own catalog, with the caller's credentials, so the catalog decides what the
caller may read. It is killed when the time is over.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lakestream.model.errors import Exhausted, InvalidRequest, Unavailable

ROWS_MAX = 1_000
SECONDS_MAX = 30.0
MEMORY_MIB = 512
QUERIES_AT_ONCE = 2
WAITING_MAX = 8
QUERY_CHARACTERS_MAX = 20_000
_MODULE = "lakestream.administration.sql.worker"


class TooManyQueries(Exhausted):
    """Other queries run at the moment. Try again in a moment."""


class RefusedQuery(InvalidRequest):
    """The query cannot be run, or broke off. Its message says why."""


class QueryTooLong(InvalidRequest):
    """The query did not end within its time. Ask for less, or use `lakestream sql`, which has no limit."""


class NoEngine(Unavailable):
    """The process that should run the query ended without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLake:
    """What the process is told: where the catalog and the files are. Called for each query."""

    uri: str
    folders: Sequence[str]
    """Folders or prefixes in which tables' files lie."""
    secret: str | None = None
    """A statement that gives access to the files (duckdb_secret.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlColumn:
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRows:
    columns: tuple[SqlColumn, ...]
    rows: tuple[tuple[Any, ...], ...] = field(repr=False)
    more: bool
    """Whether there are rows beyond ROWS_MAX."""


class SqlBox:
    def __init__(self, lake: Callable[[], QueryLake], *, seconds_max: float = SECONDS_MAX) -> None:
        """`lake` raises LakestreamError where no query can be run."""
        self._lake = lake
        self._seconds_max = seconds_max
        self._places = asyncio.Semaphore(QUERIES_AT_ONCE)
        self._asked = 0

    async def ask(self, query: str, *, headers: Mapping[str, str] | None = None) -> SqlRows:
        """`headers` are the caller's, for the catalog. Raises RefusedQuery, QueryTooLong, TooManyQueries."""
        if len(query) > QUERY_CHARACTERS_MAX:
            raise RefusedQuery(f"the query has more than {QUERY_CHARACTERS_MAX:,} characters")
        if self._asked >= QUERIES_AT_ONCE + WAITING_MAX:
            raise TooManyQueries("too many queries are asked at once: try again in a moment")
        self._asked += 1
        try:
            async with self._places:
                return _rows(await self._run(query, headers or {}))
        finally:
            self._asked -= 1

    async def _run(self, query: str, headers: Mapping[str, str]) -> dict[str, Any]:
        lake = self._lake()
        request = {
            "query": query,
            "uri": lake.uri,
            "folders": list(lake.folders),
            "secret": lake.secret,
            "headers": dict(headers),
            "rows_max": ROWS_MAX,
            "memory_mib": MEMORY_MIB,
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _MODULE, stdin=pipe, stdout=pipe, stderr=pipe
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(json.dumps(request).encode()), self._seconds_max)
        except TimeoutError:
            raise QueryTooLong(
                f"the query did not end within {self._seconds_max:.0f} seconds: ask for less, or use `lakestream sql`"
            ) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        try:
            found: dict[str, Any] = json.loads(out)
        except ValueError:
            last = err.decode(errors="replace").strip().rpartition("\n")[2]
            raise NoEngine(f"the query ended its process, perhaps for want of memory: {last or 'no word'}") from None
        return found


def _rows(found: Mapping[str, Any]) -> SqlRows:
    if "error" in found:
        raise RefusedQuery(found["error"])
    return SqlRows(
        columns=tuple(SqlColumn(name=one["name"], type=one["type"]) for one in found["columns"]),
        rows=tuple(tuple(row) for row in found["rows"]),
        more=found["more"],
    )

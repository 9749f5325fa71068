"""SQL: a box for one read-only query, its rows as a grid, a simple chart and CSV, and the same query for engines."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.sql.box import MEMORY_MIB, ROWS_MAX, SECONDS_MAX, SqlBox, SqlRows
from lakestream.console.forms import SentForm
from lakestream.console.page_route import CONSOLE, PageRoute
from lakestream.console.rendering import Templates
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.answers import status_of
from lakestream.protocol.rest.sql import ASK_SQL, callers_headers, csv_response

BARS_MAX = 50


class SqlPage:
    def __init__(self, box: SqlBox, templates: Templates) -> None:
        self._box = box
        self._templates = templates

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute(path=f"{CONSOLE}/sql", face=self.look, needs=ASK_SQL),
            PageRoute(path=f"{CONSOLE}/sql", face=self.ask, needs=ASK_SQL, methods=("POST",)),
        ]

    async def look(self, request: Request) -> Response:
        return self._page(request.query_params.get("query", "SHOW TABLES"))

    async def ask(self, request: Request) -> Response:
        form = await SentForm.of(request)
        query = form.text("query")
        try:
            found = await self._box.ask(query, headers=callers_headers(request))
        except LakestreamError as error:
            return self._page(query, problem=str(error), status=status_of(error))
        return csv_response(found) if form.text("format") == "csv" else self._page(query, found=found)

    def _page(
        self, query: str, *, found: SqlRows | None = None, problem: str | None = None, status: int = 200
    ) -> Response:
        return self._templates.page(
            "sql.html",
            status=status,
            here="sql",
            title="SQL",
            query=query,
            found=found,
            problem=problem,
            bars=_bars(found),
            rows_max=ROWS_MAX,
            seconds_max=SECONDS_MAX,
            memory_mib=MEMORY_MIB,
        )


def _bars(found: SqlRows | None) -> list[tuple[str, float]]:
    """A bar for each row of two columns, a name and a number that is not negative."""
    if found is None or len(found.columns) != 2 or not 1 < len(found.rows) <= BARS_MAX:
        return []
    if not all(_is_number(row[1]) and row[1] >= 0 for row in found.rows):
        return []
    return [(str(name), float(number)) for name, number in found.rows]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""/admin/sql: run one read-only query on DuckDB through the catalog, within limits of time, memory and rows.

POST {"query": "SELECT count(*) FROM orders"}   -> {"columns": [{"name", "type"}], "rows": [[...]], "more": false}
POST {"query": ..., "format": "csv"}            -> CSV with a header line

The query runs with the caller's credentials: the catalog decides which tables the caller may read.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.administration.sql.box import SqlBox, SqlRows
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.rest.access.logins import session_token
from lakestream.protocol.rest.answers import status_of
from lakestream.protocol.rest.asked import asked_object
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/sql"
ASK_SQL = (Need(Operation.READ, ResourceType.TABLE, scope="each that the query names; the catalog checks it"),)
CSV_HEADERS = {"Content-Disposition": 'attachment; filename="rows.csv"', "X-Content-Type-Options": "nosniff"}


def sql_routes(box: SqlBox) -> list[AccessRoute]:
    async def ask(request: Request) -> Response:
        try:
            asked = asked_object(await request.body(), {"query", "format"}, like='{"query": "SHOW TABLES"}')
            query, format = asked.get("query"), asked.get("format", "json")
            if not isinstance(query, str) or format not in ("json", "csv"):
                raise InvalidRequest("'query' is a text, and 'format' is json or csv")
            found = await box.ask(query, headers=callers_headers(request))
        except LakestreamError as error:
            return JSONResponse({"error": str(error)}, status_code=status_of(error))
        return csv_response(found) if format == "csv" else JSONResponse(_rows_json(found))

    return [AccessRoute(PATH, ask, needs=ASK_SQL, methods=["POST"])]


def callers_headers(request: Request) -> Mapping[str, str]:
    """The caller's credentials, for the catalog."""
    given = request.headers.get("authorization")
    if given is None and (session := session_token(request.headers)) is not None:
        given = f"Bearer {session}"
    return {} if given is None else {"Authorization": given}


def csv_response(found: SqlRows) -> Response:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([column.name for column in found.columns])
    writer.writerows(found.rows)
    return Response(out.getvalue(), media_type="text/csv", headers=CSV_HEADERS)


def _rows_json(found: SqlRows) -> dict[str, Any]:
    return {
        "columns": [asdict(column) for column in found.columns],
        "rows": [list(row) for row in found.rows],
        "more": found.more,
    }

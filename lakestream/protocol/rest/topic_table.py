"""/admin/topics/{id}/table: which table a topic has. /admin/topics/{id}/appended: which of its offsets are rows that
engines appended to the table, and in which files. The topic's id is written as /admin/status shows it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topic_table import TopicTableNames
from lakestream.metadata.job_store import JobStore
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.topic import TopicId
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/topics/{id}/table"
APPENDED_PATH = "/admin/topics/{id}/appended"


def topic_table_routes(tables: TopicTableNames, jobs: JobStore) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_table(tables, request.path_params["id"]))

    async def look_at_rows(request: Request) -> Response:
        return await answered(_appended(jobs, request.path_params["id"]))

    needs = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
    return [AccessRoute(PATH, look, needs=needs), AccessRoute(APPENDED_PATH, look_at_rows, needs=needs)]


async def _table(tables: TopicTableNames, id: str) -> dict[str, str | None]:
    return {"table": await tables.of(_topic_id(id))}


async def _appended(jobs: JobStore, id: str) -> dict[str, Any]:
    return {"appended": [span._asdict() for span in await jobs.appended_spans(_topic_id(id))]}


def _topic_id(text: str) -> TopicId:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""  # an id that no topic has

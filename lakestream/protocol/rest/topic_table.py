"""/admin/topics/{id}/table: which table a topic has. /admin/topics/{id}/appended: which of its offsets are rows that
engines appended to the table, and in which files. The topic's id is written as /admin/status shows it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topic_table import TopicTableNames
from lakestream.metadata.job_store import JobStore
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.topic import TopicId
from lakestream.protocol.rest.access.rights import rights_of, topic_or_all
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/topics/{id}/table"
APPENDED_PATH = "/admin/topics/{id}/appended"


def topic_table_routes(tables: TopicTableNames, jobs: JobStore) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_table(tables, request))

    async def look_at_rows(request: Request) -> Response:
        return await answered(_appended(tables, jobs, request))

    needs = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
    return [AccessRoute(PATH, look, needs=needs), AccessRoute(APPENDED_PATH, look_at_rows, needs=needs)]


async def _table(tables: TopicTableNames, request: Request) -> dict[str, str | None]:
    return {"table": await tables.of(await _described(tables, request))}


async def _appended(tables: TopicTableNames, jobs: JobStore, request: Request) -> dict[str, Any]:
    topic = await _described(tables, request)
    return {"appended": [span._asdict() for span in await jobs.appended_spans(topic)]}


async def _described(tables: TopicTableNames, request: Request) -> TopicId:
    """The topic whose id is in the path. A topic keeps its name for as long as it lives. Raises Denied."""
    try:
        id = bytes.fromhex(request.path_params["id"])
    except ValueError:
        id = b""  # an id that no topic has
    rights = rights_of(request)
    if rights.is_limited:
        rights.must(Operation.DESCRIBE, topic_or_all(await tables.topic_of(id)))
    return id

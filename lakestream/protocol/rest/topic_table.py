"""/admin/topics/{id}/table: which table a topic has. The topic's id is written as /admin/status shows it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lakestream.administration.topic_table import TopicTableNames
from lakestream.model.topic import TopicId
from lakestream.protocol.rest.answers import answered

PATH = "/admin/topics/{id}/table"


def topic_table_routes(tables: TopicTableNames) -> list[Route]:
    async def look(request: Request) -> Response:
        return await answered(_table(tables, request.path_params["id"]))

    return [Route(PATH, look)]


async def _table(tables: TopicTableNames, id: str) -> dict[str, str | None]:
    return {"table": await tables.of(_topic_id(id))}


def _topic_id(text: str) -> TopicId:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""  # an id that no topic has

"""/admin/topics/{id}/table: which table a topic has. The topic's id is written as /admin/status shows it."""

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topic_table import TopicTableNames
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.topic import TopicId
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/topics/{id}/table"


def topic_table_routes(tables: TopicTableNames) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_table(tables, request.path_params["id"]))

    return [AccessRoute(PATH, look, needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),))]


async def _table(tables: TopicTableNames, id: str) -> dict[str, str | None]:
    return {"table": await tables.of(_topic_id(id))}


def _topic_id(text: str) -> TopicId:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""  # an id that no topic has

"""/admin/topics/{id}/table: which table a topic has, in one small read.

Asked by the topic's id, so that nobody is told the table of a topic of the same name in another cluster.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.metadata.store import MetadataStore
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/topics/{id}/table"


def topic_table_routes(store: MetadataStore) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        try:
            return await _table(store, request.path_params["id"])
        except LakestreamError as error:
            return JSONResponse({"error": str(error)}, status_code=503)

    return [AccessRoute(PATH, look, needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),))]


async def _table(store: MetadataStore, id: str) -> Response:
    topic = next((one for one in (await store.topics()).topics if one.id.hex() == id), None)
    if topic is None:
        return JSONResponse({"error": "the topic is of another cluster, or was deleted"}, status_code=404)
    pointer = await store.tables.table_of_topic(topic.id)
    return JSONResponse({"table": None if pointer is None else ".".join((*pointer.namespace, pointer.name))})

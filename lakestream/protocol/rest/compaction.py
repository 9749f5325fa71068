"""/admin/compact: how far topics are in their tables (GET), and please bring them there now (POST).

POST {"topics": ["orders"]}      without names: all of them. Answers like GET, for these topics, as of before the work.
"""

import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.metadata.store import MetadataStore
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError, UnknownTopic
from lakestream.model.topic import Topic
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/compact"


def compaction_routes(store: MetadataStore) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await _answered(progress(store, (await store.topics()).topics))

    async def ask(request: Request) -> Response:
        return await _answered(_asked(store, await request.body()))

    return [
        AccessRoute(PATH, look, needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),)),
        AccessRoute(PATH, ask, needs=(Need(Operation.ALTER, ResourceType.TOPIC),), methods=["POST"]),
    ]


async def progress(store: MetadataStore, topics: Sequence[Topic]) -> dict[str, Any]:
    sizes = await store.tails([partition for topic in topics for partition in topic.partitions])
    return {
        "pipeline": await store.jobs.compaction_holder(),
        "topics": [
            {
                "name": topic.name,
                "partitions": [
                    {"partition": number, **sizes[partition].tail._asdict()}
                    for number, partition in enumerate(topic.partitions)
                    if partition in sizes  # deleted between the two reads otherwise
                ],
            }
            for topic in topics
        ],
    }


async def _asked(store: MetadataStore, body: bytes) -> dict[str, Any]:
    topics = _chosen((await store.topics()).topics, _names(body))
    found = await progress(store, topics)
    await store.jobs.ask_compaction([topic.id for topic in topics])
    return found


def _names(body: bytes) -> list[str] | None:
    try:
        names = json.loads(body or b"{}").get("topics")
    except (ValueError, AttributeError):
        raise InvalidRequest('send a JSON object: {"topics": ["name"]}, or {} for all') from None
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise InvalidRequest("'topics' is a list of names")
    return names


def _chosen(topics: Sequence[Topic], names: list[str] | None) -> list[Topic]:
    by_name = {topic.name: topic for topic in topics}
    unknown = [name for name in names or [] if name not in by_name]
    if unknown:
        raise UnknownTopic(f"no topic is called '{unknown[0]}': `lakestream topic list` shows those that exist")
    return list(by_name.values()) if names is None else [by_name[name] for name in dict.fromkeys(names)]


async def _answered(working: Any) -> Response:
    try:
        return JSONResponse(await working)
    except (InvalidRequest, UnknownTopic) as error:
        return JSONResponse({"error": str(error)}, status_code=404 if isinstance(error, UnknownTopic) else 400)
    except LakestreamError as error:
        return JSONResponse({"error": str(error)}, status_code=503)

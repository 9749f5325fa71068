"""DeleteTopics (20), versions 1-6: delete topics by name, and from v6 on also by id.

- Once this is answered, the topic is gone for every reader and writer. Its objects are deleted after their grace.
- A topic that is named twice (by name, by id or once by each) is refused; so is one given by both.

v4 flexible. v5 error messages. v6 topic ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lakestream.broker.broker import Broker
from lakestream.broker.directory import TopicEntry
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError, UnknownTopic, UnknownTopicId
from lakestream.model.topic import TopicId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import delete_topics
from lakestream.world.turns import in_turns

BY_ID_FROM_VERSION = 6

Asked = tuple[str | None, TopicId]
"""By name or by id."""


async def handle(request: delete_topics.Request, context: RequestContext) -> delete_topics.Response:
    asked = _asked(request, context.api_version)
    lookup = TopicLookup(context.broker.directory)
    found = {each: await _found(*each, lookup) async for each in in_turns(dict.fromkeys(asked))}
    counts = Counter(_meant(each, found) for each in asked)
    return delete_topics.Response(
        responses=[
            await _delete(*each, counts[_meant(each, found)], entry, context.broker)
            async for each, entry in in_turns(found.items())
        ]
    )


def _meant(asked: Asked, found: Mapping[Asked, TopicEntry | LakestreamError]) -> TopicId | Asked:
    """The topic, or the name or id asked for if there is none."""
    entry = found[asked]
    return entry.topic.id if isinstance(entry, TopicEntry) else asked


def _asked(request: delete_topics.Request, api_version: int) -> list[Asked]:
    if api_version >= BY_ID_FROM_VERSION:
        return [(each.name, each.topic_id) for each in request.topics]
    return [(name, NO_TOPIC_ID) for name in request.topic_names]


async def _found(name: str | None, topic_id: TopicId, lookup: TopicLookup) -> TopicEntry | LakestreamError:
    try:
        if (name is None) == (topic_id == NO_TOPIC_ID):
            raise InvalidRequest("give either the topic's name or its id")
        return await lookup.topic(name, topic_id)
    except LakestreamError as error:
        return error


async def _delete(
    name: str | None, topic_id: TopicId, times: int, entry: TopicEntry | LakestreamError, broker: Broker
) -> delete_topics.DeletableTopicResult:
    try:
        if times > 1:
            raise InvalidRequest("the topic comes more than once in the request; name it once")
        if isinstance(entry, LakestreamError):
            raise entry
        await _delete_found(entry, name, broker)
    except LakestreamError as error:
        return _failed(name, topic_id, *kafka_error(error))
    return delete_topics.DeletableTopicResult(name=entry.topic.name, topic_id=entry.topic.id)


async def _delete_found(entry: TopicEntry, name: str | None, broker: Broker) -> None:
    try:
        await broker.topics.delete(entry)
    except UnknownTopicId:
        if name is None:
            raise
        raise UnknownTopic(f"topic '{name}' was deleted a moment ago") from None


def _failed(name: str | None, topic_id: bytes, code: int, message: str) -> delete_topics.DeletableTopicResult:
    return delete_topics.DeletableTopicResult(name=name, topic_id=topic_id, error_code=code, error_message=message)


def error_response(
    request: delete_topics.Request, context: RequestContext, code: int, message: str
) -> delete_topics.Response:
    asked = dict.fromkeys(_asked(request, context.api_version))
    return delete_topics.Response(responses=[_failed(name, topic_id, code, message) for name, topic_id in asked])


API = Api(
    key=20,
    name="DeleteTopics",
    versions=(1, 6),
    needs=(Need(Operation.DELETE, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)

"""DeleteShareGroupOffsets (92), version 0: let a share group without members forget topics.

- A group that reads such a topic again begins where `share.auto.offset.reset` says.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import UnknownTopic
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import delete_share_group_offsets as delete
from lakestream.world.turns import in_turns


async def handle(request: delete.Request, context: RequestContext) -> delete.Response:
    broker = context.broker
    responses, topics = [], []
    async for asked in in_turns(request.topics):
        try:
            entry = await broker.directory.find(asked.topic_name)
        except UnknownTopic as error:
            responses.append(_failed(asked.topic_name, *kafka_error(error)))
        else:
            topics.append(entry.topic.id)
            responses.append(
                delete.DeleteShareGroupOffsetsResponseTopic(topic_name=asked.topic_name, topic_id=entry.topic.id)
            )
    await broker.shares.offsets.forget(request.group_id, topics)
    return delete.Response(responses=responses)


def _failed(topic: str, code: int, message: str) -> delete.DeleteShareGroupOffsetsResponseTopic:
    return delete.DeleteShareGroupOffsetsResponseTopic(topic_name=topic, error_code=code, error_message=message)


def error_response(request: delete.Request, context: RequestContext, code: int, message: str) -> delete.Response:
    return delete.Response(
        error_code=code,
        error_message=message,
        responses=[_failed(topic.topic_name, code, message) for topic in request.topics],
    )


API = Api(
    key=92,
    name="DeleteShareGroupOffsets",
    versions=(0, 0),
    needs=(Need(Operation.DELETE, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)

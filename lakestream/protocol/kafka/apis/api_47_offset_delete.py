"""OffsetDelete (47), version 0: forget what a group has committed for some partitions.

- Partitions of topics that members read are refused, with GROUP_SUBSCRIBED_TO_TOPIC; the others of the request go.
- A group whose topics only its members know (not consumers) must be empty.
"""

from typing import Any

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.apis.group_topics import AskedPartition, asked_partitions
from lakestream.protocol.kafka.apis.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.registry import Api, RequestContext
from lakestream.protocol.kafka.turns import in_turns
from lakestream.protocol.kafka.wire import messages

_delete = messages.api(47)


async def handle(request: Any, context: RequestContext) -> Any:
    broker: Broker = context.broker
    lookup = TopicLookup(broker.directory)
    asked = [
        (topic.name, await asked_partitions(lookup, topic.name, NO_TOPIC_ID, topic.partitions))
        async for topic in in_turns(request.topics)
    ]
    partitions = {found: name for name, parts in asked for _, found in parts if not isinstance(found, LakestreamError)}
    refused = await broker.groups.administration.delete_offsets(request.group_id, partitions)
    return _delete.Response(
        topics=[
            _delete.OffsetDeleteResponseTopic(name=name, partitions=[_answer(part, refused) for part in parts])
            for name, parts in asked
        ]
    )


def _answer(asked: AskedPartition, refused: dict[TopicPartition, LakestreamError]) -> Any:
    error = asked.found if isinstance(asked.found, LakestreamError) else refused.get(asked.found)
    code = KafkaError.NONE if error is None else kafka_error(error)[0]
    return _delete.OffsetDeleteResponsePartition(partition_index=asked.part.partition_index, error_code=code)


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return _delete.Response(error_code=code, topics=[])


API = Api(
    key=47,
    name="OffsetDelete",
    versions=(0, 0),
    needs=(Need(Operation.DELETE, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)

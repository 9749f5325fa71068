"""CreateTopics (19), versions 2-7: new topics, with their partitions and configs.

- The topic exists at every broker before the request is answered, so the timeout does not matter.
- Partitions and replication factor may be left to the broker (-1). The object store replicates records; the broker
  answers and shows a replication factor of 1.
- A manual assignment determines how many partitions there are. Its brokers are ignored, since any broker serves any
  partition.
- An unknown config is refused. A name that is given twice is refused for that name.

v4 -1 for the broker's choice. v5 flexible, answers with the created topic's configs. v7 topic ids.
"""

from __future__ import annotations

from collections import Counter

from lakestream.broker.broker import Broker
from lakestream.broker.topic_lookup import NO_TOPIC_ID
from lakestream.broker.topics import BROKER_DEFAULT, NewTopic
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, InvalidTopicConfig, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.config_entries import topic_entries
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import create_topics
from lakestream.world.turns import in_turns

REPLICATION = 1


async def handle(request: create_topics.Request, context: RequestContext) -> create_topics.Response:
    counts = Counter(asked.name for asked in request.topics)
    once = {asked.name: asked for asked in request.topics}
    return create_topics.Response(
        topics=[
            await _create(asked, counts[name], context.broker, validate_only=request.validate_only)
            async for name, asked in in_turns(once.items())
        ]
    )


async def _create(
    asked: create_topics.request.CreatableTopic, times: int, broker: Broker, *, validate_only: bool
) -> create_topics.CreatableTopicResult:
    try:
        if times > 1:
            raise InvalidRequest(f"topic '{asked.name}' comes {times} times in the request; name it once")
        topic = _new_topic(asked)
        created = await broker.topics.create(topic, validate_only=validate_only)
    except LakestreamError as error:
        return _failed(asked.name, *kafka_error(error))
    return create_topics.CreatableTopicResult(
        name=asked.name,
        topic_id=NO_TOPIC_ID if created is None else created.topic.id,
        num_partitions=_partition_count(topic, broker) if created is None else len(created.topic.partitions),
        replication_factor=REPLICATION,
        configs=[
            create_topics.CreatableTopicConfigs(name=entry.name, value=entry.value, config_source=entry.source)
            for entry in topic_entries(topic.config)
        ],
    )


def _new_topic(asked: create_topics.request.CreatableTopic) -> NewTopic:
    _check_assignments(asked)
    return NewTopic(
        name=asked.name,
        partitions=asked.num_partitions,
        replication=asked.replication_factor,
        config={config.name: _value(config) for config in asked.configs},
        assigned_partitions=[each.partition_index for each in asked.assignments] or None,
    )


def _check_assignments(asked: create_topics.request.CreatableTopic) -> None:
    if not asked.assignments:
        return
    if asked.num_partitions != BROKER_DEFAULT or asked.replication_factor != BROKER_DEFAULT:
        raise InvalidRequest("give either a manual assignment, or numbers of partitions and replicas; the other is -1")
    indexes = sorted(each.partition_index for each in asked.assignments)
    if indexes != list(range(len(indexes))):
        raise _bad_assignment("a manual assignment names partitions 0, 1, 2, ... each once")
    if any(len(set(each.broker_ids)) != len(each.broker_ids) or not each.broker_ids for each in asked.assignments):
        raise _bad_assignment("every partition of a manual assignment names at least one broker, and none twice")


def _bad_assignment(message: str) -> Refused:
    return Refused(KafkaError.INVALID_REPLICA_ASSIGNMENT, message)


def _value(config: create_topics.request.CreatableTopicConfig) -> str:
    if config.value is None:
        raise InvalidTopicConfig(f"topic config '{config.name}' has no value; leave it out to have the default")
    return config.value


def _partition_count(topic: NewTopic, broker: Broker) -> int:
    if topic.assigned_partitions is not None:
        return len(topic.assigned_partitions)
    return broker.limits.partitions_default if topic.partitions == BROKER_DEFAULT else topic.partitions


def _failed(name: str, code: int, message: str) -> create_topics.CreatableTopicResult:
    return create_topics.CreatableTopicResult(name=name, error_code=code, error_message=message)


def error_response(
    request: create_topics.Request, context: RequestContext, code: int, message: str
) -> create_topics.Response:
    return create_topics.Response(
        topics=[_failed(name, code, message) for name in dict.fromkeys(asked.name for asked in request.topics)]
    )


API = Api(
    key=19,
    name="CreateTopics",
    versions=(2, 7),
    needs=(
        Need(Operation.CREATE, ResourceType.CLUSTER, or_else=Need(Operation.CREATE, ResourceType.TOPIC)),
        Need(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, scope="configs in the answer"),
    ),
    handle=handle,
    error_response=error_response,
)

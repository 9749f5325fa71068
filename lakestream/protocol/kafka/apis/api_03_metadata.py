"""Metadata (3), versions 0-13: the brokers, the topics, and the broker to ask for each partition.

- Any broker serves any partition. Rendezvous hashing chooses the named leader among live brokers of the client's zone
  (`zone=`, `az=`, `rack=` in the client id), under leader epoch 0. It is the only replica named.
- A topic that does not exist is created if both the request and the broker allow it. Clients that ask for the same new
  topic at once all get it.
- The named controller is a live broker, the same one at every broker. Every broker accepts administrative requests.

v0 no topics means all; v1+ null means all, none means none. v4 allow_auto_topic_creation. v7 leader epoch.
v8 authorized operations (the cluster's until v10). v9 flexible. v10 topic ids in answers. v12 topics asked for by id.
v13 an error code for the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from lakestream.broker.directory import TopicEntry
from lakestream.broker.leaders import leader_ids, near, zone_of_client
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.broker.topics import NewTopic
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.broker import BrokerId
from lakestream.model.errors import InvalidRequest, InvalidTopicName, LakestreamError, TopicExists, UnknownTopic
from lakestream.model.topic import TopicId, topic_name_problem
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.leader_epoch import LEADER_EPOCH
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import metadata
from lakestream.world.turns import in_turns

BY_ID_FROM_VERSION = 12
PARTITION_LISTS_KEPT = 1_000
"""Topics whose partition lists are cached as response objects, so that a client's refresh costs only the encoding."""


async def handle(request: metadata.Request, context: RequestContext) -> metadata.Response:
    broker = context.broker
    leaders = tuple(each.id for each in near(broker.cluster.live(), zone_of_client(context.client_id)))
    wanted = _wanted(request, context.api_version)
    if wanted is None:
        await broker.directory.refresh()
        topics = [_topic(entry, leaders, request, context) async for entry in in_turns(broker.directory.all())]
    else:
        _check_names(wanted, context.api_version)
        lookup = TopicLookup(broker.directory)
        once = {(asked.name, asked.topic_id): asked for asked in wanted}
        topics = [
            await _asked_topic(asked, request, lookup, leaders, context) async for asked in in_turns(once.values())
        ]
    return metadata.Response(
        brokers=[
            metadata.MetadataResponseBroker(node_id=each.id, host=each.host, port=each.port, rack=each.rack)
            for each in broker.cluster.listed()
        ],
        cluster_id=broker.cluster.cluster_id,
        controller_id=broker.cluster.controller_id(),
        topics=topics,
        cluster_authorized_operations=authorized(context.access, ResourceType.CLUSTER)
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def _wanted(request: metadata.Request, api_version: int) -> Sequence[metadata.request.MetadataRequestTopic] | None:
    """The requested topics; None: all. Version 0 has no null, and names no topics to mean all."""
    return None if api_version == 0 and not request.topics else request.topics


def _check_names(wanted: Sequence[metadata.request.MetadataRequestTopic], api_version: int) -> None:
    if api_version < BY_ID_FROM_VERSION and any(
        asked.name is None or asked.topic_id != NO_TOPIC_ID for asked in wanted
    ):
        raise InvalidRequest(f"topics can be asked for by id from version {BY_ID_FROM_VERSION} on: send their names")


async def _asked_topic(
    asked: metadata.request.MetadataRequestTopic,
    request: metadata.Request,
    lookup: TopicLookup,
    leaders: tuple[BrokerId, ...],
    context: RequestContext,
) -> metadata.MetadataResponseTopic:
    try:
        entry = await _find_or_create(asked, lookup, context, may_create=request.allow_auto_topic_creation)
    except LakestreamError as error:
        return _failed(asked, kafka_error(error)[0])
    return _topic(entry, leaders, request, context)


async def _find_or_create(
    asked: metadata.request.MetadataRequestTopic, lookup: TopicLookup, context: RequestContext, *, may_create: bool
) -> TopicEntry:
    broker, name = context.broker, asked.name or ""
    try:
        return await lookup.topic(name, asked.topic_id)
    except UnknownTopic as unknown:
        if (problem := topic_name_problem(name)) is not None:
            raise InvalidTopicName(problem) from unknown
        if not (may_create and broker.limits.auto_create_topics):
            raise
        _check_creation(name, context)
    with suppress(TopicExists):  # another client asked for it at the same moment
        await broker.topics.create(NewTopic(name=name))
    return await broker.directory.find(name)


def _check_creation(name: str, context: RequestContext) -> None:
    """Only here it is known whether the topic exists, so the guard cannot check this."""
    access = context.access
    if not access.shows(Operation.CREATE, ResourceType.CLUSTER) and not access.allows(
        Operation.CREATE, ResourceType.TOPIC, name
    ):
        raise Refused(KafkaError.TOPIC_AUTHORIZATION_FAILED, f"there is no topic '{name}', and you may not create it")


def _topic(
    entry: TopicEntry, leaders: tuple[BrokerId, ...], request: metadata.Request, context: RequestContext
) -> metadata.MetadataResponseTopic:
    topic = entry.topic
    return metadata.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        partitions=_partitions(topic.id, len(topic.partitions), leaders),
        topic_authorized_operations=authorized(context.access, ResourceType.TOPIC, topic.name)
        if request.include_topic_authorized_operations
        else NOT_ASKED,
    )


@lru_cache(maxsize=PARTITION_LISTS_KEPT)
def _partitions(
    topic: TopicId, count: int, brokers: tuple[BrokerId, ...]
) -> Sequence[metadata.MetadataResponsePartition]:
    """The cached partitions of a topic. Do not change them: they are shared."""
    return tuple(
        metadata.MetadataResponsePartition(
            partition_index=index,
            leader_id=leader,
            leader_epoch=LEADER_EPOCH,
            replica_nodes=(leader,),
            isr_nodes=(leader,),
        )
        for index, leader in enumerate(leader_ids(topic, count, brokers))
    )


def _failed(asked: metadata.request.MetadataRequestTopic, code: int) -> metadata.MetadataResponseTopic:
    return metadata.MetadataResponseTopic(name=asked.name, topic_id=asked.topic_id, error_code=code)


def error_response(request: metadata.Request, context: RequestContext, code: int, message: str) -> metadata.Response:
    topics = [_failed(asked, code) for asked in request.topics or ()]
    if context.api_version < BY_ID_FROM_VERSION:
        for topic in topics:
            topic.name = topic.name or ""
    return metadata.Response(topics=topics, error_code=code)


API = Api(
    key=3,
    name="Metadata",
    versions=(0, 13),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.TOPIC),
        Need(
            Operation.CREATE,
            ResourceType.CLUSTER,
            scope="topics created on demand",
            or_else=Need(Operation.CREATE, ResourceType.TOPIC),
        ),
    ),
    handle=handle,
    error_response=error_response,
)

"""OffsetCommit (8), versions 2-10: store the positions of a group's readers.

- The broker answers when the offset is in the metadata store, under the coordinator's epoch: no broker's death loses
  it.
- Members commit under their generation or member epoch. A client that is in no group (-1) may commit while the group
  has no members.
- Partitions are judged one by one: an unknown one, or one with too long metadata, does not affect the others. An error
  of the group (wrong member, wrong generation, another coordinator) refuses all of them.
- A synchronous commit of librdkafka may retry for a long time after its coordinator has died: it tries again before its
  new connection is up, considers the coordinator dead and closes the connection. `retry.backoff.ms=1000` in the client
  avoids that (seen with confluent-kafka on a busy machine: of 27 commits, two hung for over a minute and six took over
  10 s; with the setting, none of 20 took 9 s).

v2-4 retention_time: replaces the broker's default. v5 without it. v6 leader epochs: stored and returned. v7 static
members. v8 flexible. v9 member epochs of the newer group protocol. v10 topic ids instead of names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from lakestream.broker.groups.held import told_to_clients
from lakestream.broker.groups.offsets import CommitAsk
from lakestream.broker.topic_lookup import TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.protocol.kafka.api import Api, Later, RequestContext, Starting
from lakestream.protocol.kafka.apis.group_topics import AskedPartition, asked_partitions, known_partitions
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import offset_commit
from lakestream.world.turns import in_turns

MEMBER_EPOCHS_FROM_VERSION = 9
BY_ID_FROM_VERSION = 10
BROKERS_RETENTION = -1
PARTITIONS_AT_ONCE = 10_000
"""Partitions of a request that are looked up in one go. Beyond that, other connections run in between."""
NONE = int(KafkaError.NONE)

Part: TypeAlias = "AskedPartition[offset_commit.request.OffsetCommitRequestPartition]"
Asked: TypeAlias = "Sequence[tuple[offset_commit.request.OffsetCommitRequestTopic, Sequence[Part]]]"
"""The topics of a request, with the partitions found for each."""


def start(request: offset_commit.Request, context: RequestContext) -> Starting:
    """Topics and group are nearly always known already. Then the request waits for the store alone, without a task."""
    broker = context.broker
    lookup = _lookup(context)
    asked = []
    if sum(len(topic.partitions) for topic in request.topics) > PARTITIONS_AT_ONCE:
        return _look_up_and_commit(request, context)
    for topic in request.topics:
        parts = known_partitions(lookup, topic.name, topic.topic_id, topic.partitions)
        if parts is None:
            return _look_up_and_commit(request, context)
        asked.append((topic, parts))
    ask = _ask(request, context.api_version, asked)
    begun = broker.groups.administration.begin_commit(ask)
    if begun is None:
        return _look_up_and_commit(request, context)
    if begun.stored is None:
        return _response(asked, begun.refused)
    return Later(begun.stored, partial(_when_stored, ask.group, asked, begun.refused))


def _lookup(context: RequestContext) -> TopicLookup:
    return TopicLookup(context.broker.directory, by_id=context.api_version >= BY_ID_FROM_VERSION)


def _when_stored(
    group: str, asked: Asked, refused: Mapping[TopicPartition, LakestreamError], stored: asyncio.Future[None]
) -> offset_commit.Response:
    error = stored.exception()
    if error is not None:
        raise told_to_clients(group, error) if isinstance(error, LakestreamError) else error
    return _response(asked, refused)


async def _look_up_and_commit(request: offset_commit.Request, context: RequestContext) -> offset_commit.Response:
    broker = context.broker
    lookup = _lookup(context)
    asked = [
        (topic, await asked_partitions(lookup, topic.name, topic.topic_id, topic.partitions))
        async for topic in in_turns(request.topics)
    ]
    refused = await broker.groups.administration.commit(_ask(request, context.api_version, asked))
    return _response(asked, refused)


def _ask(request: offset_commit.Request, api_version: int, asked: Asked) -> CommitAsk:
    return CommitAsk(
        group=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id_or_member_epoch,
        offsets={
            found: _offset(part)
            for _, parts in asked
            for part, found in parts
            if not isinstance(found, LakestreamError)
        },
        retention_ms=None if request.retention_time == BROKERS_RETENTION else max(request.retention_time, 0),
        knows_member_epochs=api_version >= MEMBER_EPOCHS_FROM_VERSION,
    )


def _offset(part: offset_commit.request.OffsetCommitRequestPartition) -> CommittedOffset:
    return CommittedOffset(part.committed_offset, part.committed_leader_epoch, part.committed_metadata or "")


def _response(asked: Asked, refused: Mapping[TopicPartition, LakestreamError]) -> offset_commit.Response:
    return offset_commit.Response(
        topics=[_topic(topic, [_answer(part, refused) for part in parts]) for topic, parts in asked]
    )


def _answer(
    asked: Part, refused: Mapping[TopicPartition, LakestreamError]
) -> offset_commit.OffsetCommitResponsePartition:
    part, found = asked
    error = found if isinstance(found, LakestreamError) else refused.get(found)
    code = NONE if error is None else kafka_error(error)[0]
    return offset_commit.OffsetCommitResponsePartition(partition_index=part.partition_index, error_code=code)


def _topic(
    topic: offset_commit.request.OffsetCommitRequestTopic, partitions: list[offset_commit.OffsetCommitResponsePartition]
) -> offset_commit.OffsetCommitResponseTopic:
    return offset_commit.OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)


def error_response(
    request: offset_commit.Request, context: RequestContext, code: int, message: str
) -> offset_commit.Response:
    return offset_commit.Response(
        topics=[
            _topic(
                topic,
                [
                    offset_commit.OffsetCommitResponsePartition(partition_index=part.partition_index, error_code=code)
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=8,
    name="OffsetCommit",
    versions=(2, 10),
    needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    start=start,
    in_order=True,
    error_response=error_response,
)

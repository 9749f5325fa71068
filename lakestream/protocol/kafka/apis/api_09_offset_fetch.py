"""OffsetFetch (9), versions 1-10: the committed offsets of one group or several.

- Offsets are read from the metadata store each time, so they cover every answered commit, through whichever broker. Any
  broker answers, even one that does not coordinate the group: NOT_COORDINATOR is never answered. If the store cannot be
  read, the answer is COORDINATOR_LOAD_IN_PROGRESS: librdkafka asks again after that error, and after no other of its
  kind.
- A partition without an offset, or of a group or topic that does not exist, has offset -1 and no error. Clients then
  start where their configuration says.
- `require_stable`: a partition for which an open transaction will commit an offset is UNSTABLE_OFFSET_COMMIT, and the
  client asks again.

v2 all topics (null), and an error code for the whole. v5 leader epochs. v6 flexible. v8 several groups. v9 members of
the newer group protocol identify themselves. v10 topic ids instead of names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lakestream.broker.broker import Broker
from lakestream.broker.groups.offsets import OffsetFetchAsk
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import NO_LEADER_EPOCH, CommittedOffset, TopicPartition
from lakestream.model.topic import TopicId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_topics import named_by_topic
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import offset_fetch
from lakestream.world.turns import in_turns

ERROR_FROM_VERSION = 2
GROUPS_FROM_VERSION = 8
BY_ID_FROM_VERSION = 10
NONE = CommittedOffset(-1, NO_LEADER_EPOCH, "")


class AskedTopic(NamedTuple):
    """A requested topic, the same for every version."""

    name: str
    topic_id: TopicId
    numbers: Sequence[int]


class TopicOffsets(NamedTuple):
    """A topic of the answer: its partitions, each with its offset."""

    name: str
    topic_id: TopicId
    offsets: Mapping[int, CommittedOffset]
    code: int = KafkaError.NONE
    unstable: AbstractSet[int] = frozenset()

    def code_of(self, number: int) -> int:
        return KafkaError.UNSTABLE_OFFSET_COMMIT if number in self.unstable else self.code


async def handle(request: offset_fetch.Request, context: RequestContext) -> offset_fetch.Response:
    broker = context.broker
    if context.api_version >= GROUPS_FROM_VERSION:
        by_id = context.api_version >= BY_ID_FROM_VERSION
        return offset_fetch.Response(
            groups=[
                await _group(asked, broker, by_id=by_id, stable=request.require_stable)
                async for asked in in_turns(request.groups)
            ]
        )
    asked = [AskedTopic(each.name, NO_TOPIC_ID, each.partition_indexes) for each in request.topics or ()]
    shown = await _offsets(
        OffsetFetchAsk(group=request.group_id),
        None if request.topics is None else asked,
        broker,
        stable=request.require_stable,
    )
    return offset_fetch.Response(
        topics=[
            offset_fetch.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[_single(number, offset, topic.code_of(number)) for number, offset in topic.offsets.items()],
            )
            for topic in shown
        ]
    )


async def _group(
    asked: offset_fetch.request.OffsetFetchRequestGroup, broker: Broker, *, by_id: bool, stable: bool
) -> offset_fetch.OffsetFetchResponseGroup:
    ask = OffsetFetchAsk(group=asked.group_id, member_id=asked.member_id, member_epoch=asked.member_epoch)
    topics = [AskedTopic(each.name, each.topic_id, each.partition_indexes) for each in asked.topics or ()]
    try:
        shown = await _offsets(ask, None if asked.topics is None else topics, broker, by_id=by_id, stable=stable)
    except LakestreamError as error:
        return offset_fetch.OffsetFetchResponseGroup(
            group_id=asked.group_id, topics=[], error_code=kafka_error(error)[0]
        )
    return offset_fetch.OffsetFetchResponseGroup(
        group_id=asked.group_id,
        topics=[
            offset_fetch.OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    offset_fetch.OffsetFetchResponsePartitions(
                        partition_index=number,
                        committed_offset=offset.offset,
                        committed_leader_epoch=offset.leader_epoch,
                        metadata=offset.metadata,
                        error_code=topic.code_of(number),
                    )
                    for number, offset in topic.offsets.items()
                ],
            )
            for topic in shown
        ],
    )


async def _offsets(
    ask: OffsetFetchAsk, topics: Sequence[AskedTopic] | None, broker: Broker, *, by_id: bool = False, stable: bool
) -> list[TopicOffsets]:
    """`topics` None: all offsets that the group has committed. `stable`: those that an open transaction will change are
    shown as unstable."""
    lookup = TopicLookup(broker.directory)
    pending = await broker.transactions.pending_offsets(ask.group) if stable else frozenset()
    if topics is None:
        committed = await broker.groups.administration.fetch(ask, None)
        await lookup.learn({partition.topic for partition in committed})
        return [
            TopicOffsets(
                name,
                topic,
                {number: committed[TopicPartition(topic, number)] for number in numbers},
                unstable={number for number in numbers if TopicPartition(topic, number) in pending},
            )
            for topic, name, numbers in named_by_topic(committed, broker.directory)
        ]
    found = [(topic, await _topic_id(topic, lookup)) async for topic in in_turns(topics)]
    wanted = [TopicPartition(id, number) for topic, id in found if id is not None for number in topic.numbers]
    committed = await broker.groups.administration.fetch(ask, wanted)
    return [_shown(topic, id, committed, pending, by_id=by_id) async for topic, id in in_turns(found)]


async def _topic_id(asked: AskedTopic, lookup: TopicLookup) -> TopicId | None:
    try:
        return (await lookup.topic(asked.name, asked.topic_id)).topic.id
    except LakestreamError:
        return None


def _shown(
    asked: AskedTopic,
    id: TopicId | None,
    committed: Mapping[TopicPartition, CommittedOffset],
    pending: AbstractSet[TopicPartition],
    *,
    by_id: bool,
) -> TopicOffsets:
    if id is None:
        code = KafkaError.UNKNOWN_TOPIC_ID if by_id else KafkaError.NONE
        return TopicOffsets(asked.name, asked.topic_id, dict.fromkeys(asked.numbers, NONE), code)
    offsets = {number: committed.get(TopicPartition(id, number), NONE) for number in asked.numbers}
    unstable = {number for number in asked.numbers if TopicPartition(id, number) in pending} if pending else frozenset()
    return TopicOffsets(asked.name, asked.topic_id, offsets, unstable=unstable)


def _single(number: int, offset: CommittedOffset, code: int) -> offset_fetch.OffsetFetchResponsePartition:
    return offset_fetch.OffsetFetchResponsePartition(
        partition_index=number,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        error_code=code,
    )


def error_response(
    request: offset_fetch.Request, context: RequestContext, code: int, message: str
) -> offset_fetch.Response:
    if context.api_version >= GROUPS_FROM_VERSION:
        return offset_fetch.Response(
            groups=[
                offset_fetch.OffsetFetchResponseGroup(group_id=asked.group_id, topics=[], error_code=code)
                for asked in request.groups
            ]
        )
    if context.api_version >= ERROR_FROM_VERSION:
        return offset_fetch.Response(topics=[], error_code=code)
    return offset_fetch.Response(
        topics=[
            offset_fetch.OffsetFetchResponseTopic(
                name=topic.name, partitions=[_single(number, NONE, code) for number in topic.partition_indexes]
            )
            for topic in request.topics or ()
        ]
    )


API = Api(
    key=9,
    name="OffsetFetch",
    versions=(1, 10),
    needs=(Need(Operation.DESCRIBE, ResourceType.GROUP), Need(Operation.DESCRIBE, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)

"""ListOffsets (2), versions 1-11: the offset at a time, or at one of the named places of a partition.

    -1 latest                   the end of the log; for readers of committed records, the last stable offset
    -2 earliest                 log_start_offset
    -3 max timestamp (v7)       the first record that has the greatest timestamp
    -4 earliest local (v8)      as earliest: nothing is tiered away from here
    -5 latest tiered (v9)       none: offset -1
    -6 earliest pending (v11)   none: offset -1
    0 and above                 the first record of this time or later; none: offset -1, timestamp -1

- A lookup by time finds the exact record. A batch that cannot be opened (because it is damaged, or was stored unread
  under `produce.validation = header`) is the exception. It counts as one record with its header's greatest time, in the
  WAL as in its table. The answer is then its first offset, which lies at or before the exact one.
- Every answer is read from the store, so it covers every record that any broker acknowledged before the request.
- A partition that is named twice in a request is refused (INVALID_REQUEST) and answered once.
- A place that the request's version does not know is refused for its partition alone, with UNSUPPORTED_VERSION.
- A reader of committed records is told of no record from the first open transaction on.

v2 isolation level. v4 leader epoch, always 0 here. v6 flexible. v10 timeout, for tiers of storage that do not exist
here.
"""

from __future__ import annotations

from asyncio import gather
from collections import Counter
from typing import NamedTuple

from lakestream.broker.broker import Broker
from lakestream.broker.offsets import NONE, OffsetAtTime
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError, UnknownPartition
from lakestream.model.place import Tail
from lakestream.model.topic import PartitionId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.leader_epoch import LEADER_EPOCH, check_leader_epoch
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import list_offsets
from lakestream.world.turns import in_turns, slices

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -1, -2, -3, -4, -5, -6
FROM_VERSION = {LATEST: 0, EARLIEST: 0, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING: 11}
READ_COMMITTED = 1
LOOKUPS_AT_ONCE = 16
"""Lookups by time open batches. One request runs this many at a time, so that others get threads too."""


class AskedOffset(NamedTuple):
    """A requested partition: its id, or the error why it has none."""

    topic: str
    part: list_offsets.request.ListOffsetsPartition
    found: PartitionId | LakestreamError


async def handle(request: list_offsets.Request, context: RequestContext) -> list_offsets.Response:
    broker = context.broker
    committed = request.isolation_level == READ_COMMITTED
    lookup = TopicLookup(broker.directory)
    counts = Counter((topic.name, part.partition_index) for topic in request.topics for part in topic.partitions)
    once = {(topic.name, part.partition_index): part for topic in request.topics for part in topic.partitions}
    found = [
        AskedOffset(name, part, await _partition(name, part, counts[name, index], lookup, context.api_version))
        async for (name, index), part in in_turns(once.items())
    ]
    tails = await broker.offsets.tails([each.found for each in found if isinstance(each.found, PartitionId)])
    answers: dict[str, list[list_offsets.ListOffsetsPartitionResponse]] = {topic.name: [] for topic in request.topics}
    for some in slices(found, LOOKUPS_AT_ONCE):
        for asked, answer in zip(
            some, await gather(*(_answer(each, tails, broker, committed) for each in some)), strict=True
        ):
            answers[asked.topic].append(answer)
    return list_offsets.Response(
        topics=[
            list_offsets.ListOffsetsTopicResponse(name=name, partitions=partitions)
            for name, partitions in answers.items()
        ]
    )


async def _partition(
    name: str, part: list_offsets.request.ListOffsetsPartition, times: int, lookup: TopicLookup, api_version: int
) -> PartitionId | LakestreamError:
    try:
        if times > 1:
            raise InvalidRequest(f"partition {part.partition_index} comes {times} times in the request; name it once")
        if part.timestamp < 0 and api_version < FROM_VERSION.get(part.timestamp, api_version + 1):
            raise Refused(KafkaError.UNSUPPORTED_VERSION, f"version {api_version} has no place called {part.timestamp}")
        _, partition = await lookup.partition(name, NO_TOPIC_ID, part.partition_index)
        check_leader_epoch(part.current_leader_epoch)
    except LakestreamError as error:
        return error
    return partition


async def _answer(
    asked: AskedOffset, tails: dict[PartitionId, Tail], broker: Broker, committed: bool
) -> list_offsets.ListOffsetsPartitionResponse:
    part = asked.part
    try:
        if isinstance(asked.found, LakestreamError):
            raise asked.found
        offset, timestamp_ms = await _offset(part.timestamp, asked.found, tails, broker, committed=committed)
    except LakestreamError as error:
        return _failed(part, kafka_error(error)[0])
    return list_offsets.ListOffsetsPartitionResponse(
        partition_index=part.partition_index, offset=offset, timestamp=timestamp_ms, leader_epoch=LEADER_EPOCH
    )


async def _offset(
    place: int, partition: PartitionId, tails: dict[PartitionId, Tail], broker: Broker, *, committed: bool
) -> OffsetAtTime:
    tail = tails.get(partition)
    if tail is None:
        raise UnknownPartition("the partition was deleted")
    end = tail.last_stable if committed else tail.next_offset
    if place == LATEST:
        return OffsetAtTime(end, -1)
    if place in (EARLIEST, EARLIEST_LOCAL):
        return OffsetAtTime(tail.log_start, -1)
    if place >= 0:
        found = await broker.offsets.at_time(partition, place)
    else:
        found = await broker.offsets.at_max_timestamp(partition) if place == MAX_TIMESTAMP else NONE
    return NONE if committed and found.offset >= end else found


def _failed(part: list_offsets.request.ListOffsetsPartition, code: int) -> list_offsets.ListOffsetsPartitionResponse:
    return list_offsets.ListOffsetsPartitionResponse(partition_index=part.partition_index, error_code=code)


def error_response(
    request: list_offsets.Request, context: RequestContext, code: int, message: str
) -> list_offsets.Response:
    return list_offsets.Response(
        topics=[
            list_offsets.ListOffsetsTopicResponse(
                name=topic.name, partitions=[_failed(part, code) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=2,
    name="ListOffsets",
    versions=(1, 11),
    needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)

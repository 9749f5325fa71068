"""ShareFetch (78), versions 1-2: records of a share group's partitions, locked for one member, and words about others.

- Acknowledgements in the request count first. Then the request waits up to max_wait for records that nobody holds:
  new ones, or some whose lock has run out or was given back.
- Locks, counts of deliveries and acknowledgements are in the metadata store before the answer leaves, so they hold
  whichever broker is asked next. Any broker serves any partition.
- Whole batches are sent. Those of their records that the member holds are listed; it skips the others, as all clients
  of share groups do. Markers and aborted records are never listed.
- With share_acquire_mode 0 the rest of a batch is locked as well, beyond max_records; with 1 max_records is exact. The
  hint batch_size is not needed: what is not told apart is kept as one range.
- A session names the partitions once; epoch 0 begins it, -1 ends it and gives back what the member holds. The broker
  may forget it (SHARE_SESSION_NOT_FOUND), and clients begin a new one by themselves.
- A member may acknowledge what it holds through any broker, and need not be known to the group's coordinator.

v2 exact max_records (KIP-1206), and renewal of locks (KIP-1222). v0 was an early access version, and is not served.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakestream.broker.shares.asks import SharedRecords, ShareFetchAsk
from lakestream.broker.shares.sessions import BEGIN, END, SessionKey, ShareSession
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.configs.group_configs import ShareConfig
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.share_requests import (
    NO_LEADER,
    AskedShares,
    asked_shares,
    may_renew,
    of_session,
    places_by_topic,
    session_at,
    session_key,
)
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import share_fetch
from lakestream.protocol.kafka.wire.records import Iovec

RESPONSE_BYTES_MAX = 55 * 1024 * 1024
RECORDS_MAX = 100_000
WAIT_MS_MAX = 60_000
RECORD_LIMIT_MODE = 1
CODES_OF_READERS = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.KAFKA_STORAGE_ERROR,
    }
)
"""Codes of a partition that members can handle. Any other problem is KAFKA_STORAGE_ERROR: ask again."""


async def handle(request: share_fetch.Request, context: RequestContext) -> share_fetch.Response:
    broker, epoch = context.broker, request.share_session_epoch
    key = session_key(request.group_id, request.member_id)
    config = broker.groups.configs.share(key.group)
    asked = await asked_shares(request.topics, broker, renews=may_renew(config, context.api_version))
    if epoch == BEGIN and (asked.acknowledged or asked.refused):
        raise InvalidRequest("a new share session has nothing to acknowledge: acknowledge within the old one")
    session = session_at(broker, key, epoch, may_begin=True)
    broker.shares.sessions.change(session, added=asked.known, gone=_forgotten(request))
    slots = {place: share_fetch.PartitionData(partition_index=place.number) for place in _named(asked)}
    for place, error in asked.unknown.items():
        slots[place].error_code, slots[place].error_message = kafka_error(error)
    await _acknowledge(key, asked, slots, config, context)
    if epoch == END:
        readable, _ = of_session(session.partitions, context)
        await broker.shares.serving.give_back(key.group, key.member, readable, config)
    elif not request.is_renew_ack and request.max_records > 0:
        await _fetch(request, key, session, slots, config, context)
    return _response(slots, config)


def _named(asked: AskedShares) -> list[TopicPartition]:
    return [*asked.unknown, *asked.acknowledged, *asked.refused]


def _forgotten(request: share_fetch.Request) -> list[TopicPartition]:
    return [
        TopicPartition(bytes(topic.topic_id), number)
        for topic in request.forgotten_topics_data
        for number in topic.partitions
    ]


async def _acknowledge(
    key: SessionKey,
    asked: AskedShares,
    slots: Mapping[TopicPartition, share_fetch.PartitionData],
    config: ShareConfig,
    context: RequestContext,
) -> None:
    outcomes: dict[TopicPartition, LakestreamError | None] = dict(asked.refused)
    if asked.acknowledged:
        outcomes |= await context.broker.shares.serving.acknowledge(
            key.group, key.member, asked.acknowledged_partitions, asked.acknowledged, config
        )
    for place, error in outcomes.items():
        if error is not None:
            slots[place].acknowledge_error_code, slots[place].acknowledge_error_message = kafka_error(error)


async def _fetch(
    request: share_fetch.Request,
    key: SessionKey,
    session: ShareSession,
    slots: dict[TopicPartition, share_fetch.PartitionData],
    config: ShareConfig,
    context: RequestContext,
) -> None:
    readable, denied = of_session(session.in_turn(), context)
    records: dict[TopicPartition, SharedRecords] = {
        place: SharedRecords(error=error) for place, error in denied.items()
    }
    for place in denied:
        session.partitions.pop(place, None)
    waits = not denied and not any(slot.error_code or slot.acknowledge_error_code for slot in slots.values())
    if readable:
        records |= await context.broker.shares.serving.fetch(
            ShareFetchAsk(
                group=key.group,
                member=key.member,
                partitions=readable,
                records_max=min(request.max_records, RECORDS_MAX),
                bytes_max=min(max(request.max_bytes, 1), RESPONSE_BYTES_MAX),
                wait_seconds=min(max(request.max_wait, 0), WAIT_MS_MAX) / 1000 if waits else 0.0,
                whole_batches=request.share_acquire_mode != RECORD_LIMIT_MODE,
            ),
            config,
        )
    for place, found in records.items():
        slot = slots.setdefault(place, share_fetch.PartitionData(partition_index=place.number))
        _fill(slot, found)


def _fill(slot: share_fetch.PartitionData, found: SharedRecords) -> None:
    if found.error is not None:
        code, slot.error_message = kafka_error(found.error)
        slot.error_code = code if code in CODES_OF_READERS else KafkaError.KAFKA_STORAGE_ERROR
        return
    slot.records = Iovec(found.parts)
    slot.acquired_records = [
        share_fetch.AcquiredRecords(first_offset=one.first, last_offset=one.last, delivery_count=one.deliveries)
        for one in found.acquired
    ]


def _response(slots: Mapping[TopicPartition, share_fetch.PartitionData], config: ShareConfig) -> share_fetch.Response:
    for slot in slots.values():
        slot.current_leader = share_fetch.LeaderIdAndEpoch(leader_id=NO_LEADER, leader_epoch=NO_LEADER)
    return share_fetch.Response(
        acquisition_lock_timeout=config.lock_ms,
        responses=[
            share_fetch.ShareFetchableTopicResponse(topic_id=topic, partitions=[slots[place] for place in places])
            for topic, places in places_by_topic(slots).items()
        ],
    )


def error_response(
    request: share_fetch.Request, context: RequestContext, code: int, message: str
) -> share_fetch.Response:
    return share_fetch.Response(
        error_code=code,
        error_message=message,
        responses=[
            share_fetch.ShareFetchableTopicResponse(
                topic_id=topic.topic_id,
                partitions=[
                    share_fetch.PartitionData(
                        partition_index=part.partition_index,
                        error_code=code,
                        error_message=message,
                        acknowledge_error_code=code if part.acknowledgement_batches else 0,
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


API = Api(
    key=78,
    name="ShareFetch",
    versions=(1, 2),
    needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    overlaps=True,
    error_response=error_response,
)

"""Fetch (1), versions 4-18: batches from an offset on, waiting for more if there are too few.

- A request waits up to max_wait for min_bytes in total. Records wake it, whichever broker they come in through. A
  waiting request does not hold up the next one of its connection.
- The broker sends whole batches. It sends a batch that begins before the requested offset if the offset lies inside it,
  and a batch larger than the limits if nothing smaller comes first (KIP-74), so that a reader always moves on.
- A partition that is named twice in a request is answered once, from the last offset named, as in Kafka.
- The broker keeps no sessions (KIP-227). The session id is always 0, so clients send full requests. An incremental
  request gets FETCH_SESSION_ID_NOT_FOUND.
- Any broker serves any partition under leader epoch 0; no replica is preferred. A reader that names a later epoch gets
  UNKNOWN_LEADER_EPOCH.
- Records from a table come in the topic's `compression.type`; those of `producer` topics come as lz4 if they were
  compressed. Versions before 10 cannot read a topic of zstd (UNSUPPORTED_COMPRESSION_TYPE), as in Kafka.
- A reader of committed records gets nothing from the first open transaction on, and the list of aborted transactions
  among the records that it gets. Records of a table have none: aborted ones did not become rows.

v5 log_start_offset. v7 sessions. v9 leader epoch. v10 zstd. v11 preferred replica. v12 flexible. v13 topic ids.
v15 replica state, v16 node endpoints, v17 directory ids, v18 high watermark: for replicas, or left at their defaults.
"""

from __future__ import annotations

from typing import TypeGuard

from lakestream.broker.directory import TopicEntry
from lakestream.broker.fetch import FetchAsk, Fetched, FetchLimits
from lakestream.broker.topic_lookup import TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.configs.topic_config import Compression
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import TopicId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.leader_epoch import check_leader_epoch
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import fetch
from lakestream.protocol.kafka.wire.records import Iovec
from lakestream.storage.records.errors import UnsupportedCompression
from lakestream.storage.records.recompress import replay_codec
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.world.turns import in_turns

RESPONSE_BYTES_MAX = 55 * 1024 * 1024
"""Most bytes of a response, like Kafka's fetch.max.bytes. A client may ask for two gigabytes at once."""
WAIT_MS_MAX = 60_000
FULL_FETCH_EPOCHS = (0, -1)
"""Session epochs of full requests, which need no existing session: they begin one, or do without."""
READ_COMMITTED = 1
NO_OFFSET = -1
NO_RECORDS = b""
ZSTD_FROM_VERSION = 10
BY_ID_FROM_VERSION = 13
ENCODINGS = {compression: Encoding(codec=replay_codec(compression)) for compression in Compression}
CODES_OF_READERS = frozenset(
    {
        KafkaError.UNSUPPORTED_COMPRESSION_TYPE,
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.KAFKA_STORAGE_ERROR,
    }
)
"""Codes that every consumer can handle. Any other problem is answered as KAFKA_STORAGE_ERROR: ask again."""


async def handle(request: fetch.Request, context: RequestContext) -> fetch.Response:
    if request.session_epoch not in FULL_FETCH_EPOCHS:
        return fetch.Response(error_code=KafkaError.FETCH_SESSION_ID_NOT_FOUND)
    broker = context.broker
    lookup = TopicLookup(broker.directory, by_id=context.api_version >= BY_ID_FROM_VERSION)
    topics: list[fetch.FetchableTopicResponse] = []
    asks: list[FetchAsk] = []
    slots: list[fetch.PartitionData] = []
    refused = False
    committed = request.isolation_level == READ_COMMITTED
    for (name, topic_id), parts in _once(request).items():
        answered: list[fetch.PartitionData] = []
        topics.append(fetch.FetchableTopicResponse(topic=name, topic_id=topic_id, partitions=answered))
        entry = lookup.known(name, topic_id)
        async for part in in_turns(parts.values()):
            slot = _slot(part, request.isolation_level)
            answered.append(slot)
            try:
                if not _has(entry, part):
                    entry, _ = await lookup.partition(name, topic_id, part.partition)
                asks.append(_ask(entry, part, context.api_version, committed=committed))
                slots.append(slot)
            except LakestreamError as error:
                slot.error_code = _code(error)
                refused = True
    if asks:
        limits = _limits(request, waits=not refused)
        for slot, fetched in zip(slots, await broker.fetching.fetch(asks, limits), strict=True):
            _fill(slot, fetched)
    return fetch.Response(responses=topics)


def _once(request: fetch.Request) -> dict[tuple[str, TopicId], dict[int, fetch.request.FetchPartition]]:
    """The requested partitions by topic, each once. Naming a partition often must not multiply its cost."""
    asked: dict[tuple[str, TopicId], dict[int, fetch.request.FetchPartition]] = {}
    for topic in request.topics:
        parts = {part.partition: part for part in topic.partitions}
        asked.setdefault((topic.topic, topic.topic_id), {}).update(parts)
    return asked


def _has(entry: TopicEntry | None, part: fetch.request.FetchPartition) -> TypeGuard[TopicEntry]:
    return entry is not None and 0 <= part.partition < len(entry.topic.partitions)


def _ask(entry: TopicEntry, part: fetch.request.FetchPartition, version: int, *, committed: bool) -> FetchAsk:
    check_leader_epoch(part.current_leader_epoch)
    compression = entry.config.compression
    if compression is Compression.ZSTD and version < ZSTD_FROM_VERSION:
        raise UnsupportedCompression(
            "the topic is compressed with zstd, which needs Fetch version 10: use a newer client"
        )
    return FetchAsk(
        partition=entry.topic.partitions[part.partition],
        offset=part.fetch_offset,
        bytes_max=max(part.partition_max_bytes, 1),
        encoding=ENCODINGS[compression],
        committed=committed,
    )


def _limits(request: fetch.Request, *, waits: bool) -> FetchLimits:
    """A request with an error in any partition is answered at once, since its client has to act on it."""
    bytes_max = min(max(request.max_bytes, 1), RESPONSE_BYTES_MAX)
    return FetchLimits(
        bytes_min=min(request.min_bytes, bytes_max),
        bytes_max=bytes_max,
        wait_seconds=min(max(request.max_wait, 0), WAIT_MS_MAX) / 1000 if waits else 0.0,
    )


def _slot(part: fetch.request.FetchPartition, isolation_level: int) -> fetch.PartitionData:
    return fetch.PartitionData(
        partition_index=part.partition,
        high_watermark=NO_OFFSET,
        aborted_transactions=() if isolation_level == READ_COMMITTED else None,
        records=NO_RECORDS,
    )


def _fill(slot: fetch.PartitionData, fetched: Fetched) -> None:
    if fetched.error is not None:
        slot.error_code = _code(fetched.error)
    if fetched.tail is not None:
        slot.high_watermark, slot.last_stable_offset = fetched.tail.next_offset, fetched.tail.last_stable
        slot.log_start_offset = fetched.tail.log_start
    if fetched.aborted:
        slot.aborted_transactions = [
            fetch.AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in fetched.aborted
        ]
    if fetched.run.parts:
        slot.records = Iovec(fetched.run.parts)


def _code(error: LakestreamError) -> int:
    """The code to answer with. A consumer treats an unexpected code from a fetch, such as a timeout, as fatal."""
    code = kafka_error(error)[0]
    return code if code in CODES_OF_READERS else KafkaError.KAFKA_STORAGE_ERROR


def error_response(request: fetch.Request, context: RequestContext, code: int, message: str) -> fetch.Response:
    def failed(part: fetch.request.FetchPartition) -> fetch.PartitionData:
        slot = _slot(part, request.isolation_level)
        slot.error_code = code
        return slot

    return fetch.Response(
        error_code=code,
        responses=[
            fetch.FetchableTopicResponse(
                topic=topic.topic, topic_id=topic.topic_id, partitions=[failed(part) for part in topic.partitions]
            )
            for topic in request.topics
        ],
    )


API = Api(
    key=1,
    name="Fetch",
    versions=(4, 18),
    needs=(Need(Operation.READ, ResourceType.TOPIC),),
    handle=handle,
    overlaps=True,
    error_response=error_response,
)

"""Produce (0), versions 3-13: batches into the log, answered once they are durable and have offsets.

    validate -> broker/produce.append -> (flush, commit) -> the last batch of a request answers it

- Batches are validated and enter the WAL in arrival order: small ones at once, heavy ones (compressed, large) in a
  thread, for which the connection's next request waits. Waiting for the flush is left to a future: no task a request.
- A topic with `lakestream.validate` has its values, and keys that have a format, looked at, too: by the registry's
  schemas, also in order.
- A topic with a `compression.type` of its own gets batches that came otherwise compressed again, in the same thread.
- acks 1 and -1 mean the same: a batch is acknowledged when it is durable, never earlier. acks 0 is answered with
  nothing, and with a closed connection if a batch was refused; its bytes count as taken in until they are flushed.
- A batch that is refused does not touch the others of its request.
- Versions 0-2 are advertised though not served: librdkafka before 2.12 takes a range that begins later for a broker
  without compression. A request of theirs closes the connection, as any that is not served.

v5 log_start_offset. v7 zstd may be sent. v8 record_errors and error_message. v9 flexible. v10 leader hints (KIP-951):
left out, since the leader epoch never changes and clients would ignore them. v12 implicit part in a transaction.
v13 topic ids instead of names.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, NamedTuple

from lakestream.broker.broker import Broker
from lakestream.broker.directory import TopicEntry
from lakestream.broker.produce import append
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.apis.produce_answer import NO_OFFSET, Answer
from lakestream.protocol.kafka.apis.topic_lookup import TopicLookup
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.registry import Api, CloseConnection, RequestContext, Started
from lakestream.protocol.kafka.turns import in_turns
from lakestream.protocol.kafka.wire import messages
from lakestream.storage.records.errors import InvalidRecord
from lakestream.storage.records.validate import ValidBatch

_produce = messages.api(0)

ZSTD_FROM_VERSION = 7
BY_ID_FROM_VERSION = 13
PARTITIONS_AT_ONCE = 10_000
"""Of a request, taken in while others wait: a tenth of a second or so, and what comes at once is stored at once. No
producer sends so many batches in one; beyond, they take turns."""
NO_TRANSACTIONS = "transactions are not served yet: produce without a transactional id"


class Later(NamedTuple):
    """A batch that cannot be taken in at once: its topic must be looked up, or validating it takes long."""

    topic: Any
    part: Any
    slot: Any


def start(request: Any, context: RequestContext) -> "Started | Coroutine[Any, Any, Started]":
    if (problem := _problem_of(request)) is not None:
        return _refused(request, *problem)
    broker: Broker = context.broker
    zstd_allowed = context.api_version >= ZSTD_FROM_VERSION
    answer = Answer(silent=request.acks == 0, timeout_ms=request.timeout)
    lookup = TopicLookup(broker.directory, by_id=context.api_version >= BY_ID_FROM_VERSION)
    later: list[Later] = []
    steps = _take_each(request, broker, lookup, answer, later, zstd_allowed)
    if sum(len(topic.partition_data) for topic in request.topic_data) > PARTITIONS_AT_ONCE:
        return _take_in_turns(steps, later, lookup, broker, answer, zstd_allowed)
    for _ in steps:
        pass
    return _take_later(later, lookup, broker, answer, zstd_allowed) if later else answer.started()


def _take_each(
    request: Any, broker: Broker, lookup: TopicLookup, answer: Answer, later: list[Later], zstd_allowed: bool
) -> Iterator[None]:
    """Batch by batch, each is taken in, refused or put off."""
    seen: set[tuple[str, bytes, int]] = set()
    for topic in request.topic_data:
        entry = lookup.known(topic.name, topic.topic_id)
        slots = answer.topic(topic)
        for part in topic.partition_data:
            slot = _produce.PartitionProduceResponse(index=part.index)
            slots.append(slot)
            try:
                _once(seen, topic, part)
                if not _take_now(broker, entry, part, slot, answer, zstd_allowed):
                    later.append(Later(topic, part, slot))
            except LakestreamError as error:
                answer.refuse(slot, error)
            yield


async def _take_in_turns(
    steps: Iterator[None],
    later: list[Later],
    lookup: TopicLookup,
    broker: Broker,
    answer: Answer,
    zstd_allowed: bool,
) -> Started:
    async for _ in in_turns(steps):
        pass
    return await _take_later(later, lookup, broker, answer, zstd_allowed)


def _problem_of(request: Any) -> tuple[int, str] | None:
    """What is wrong with the request as a whole."""
    if request.acks not in (0, 1, -1):
        return KafkaError.INVALID_REQUIRED_ACKS, f"acks={request.acks}: use 0, 1 or -1 (all)"
    if request.transactional_id is not None:
        return KafkaError.INVALID_TXN_STATE, NO_TRANSACTIONS
    return None


def _once(seen: set[tuple[str, bytes, int]], topic: Any, part: Any) -> None:
    place = topic.name, topic.topic_id, part.index
    if place in seen:
        raise InvalidRequest(f"partition {part.index} comes twice in one request; send its batches one after another")
    seen.add(place)


def _take_now(
    broker: Broker, entry: TopicEntry | None, part: Any, slot: Any, answer: Answer, zstd_allowed: bool
) -> bool:
    """False: it must be taken later. Raises why the batch is refused."""
    if part.records is None:
        raise InvalidRecord("there are no records: send one batch for each partition")
    if entry is None or not 0 <= part.index < len(entry.topic.partitions):
        return False
    if broker.gate.is_heavy(part.records, entry.config) or broker.value_gate.guards(entry):
        return False
    _take(broker, entry, part, broker.gate.check(part.records, entry.config, zstd_allowed=zstd_allowed), slot, answer)
    return True


async def _take_later(
    later: list[Later], lookup: TopicLookup, broker: Broker, answer: Answer, zstd_allowed: bool
) -> Started:
    """Partitions of one request are independent: their order does not matter, only that all are in before the next."""
    checks = []
    async for topic, part, slot in in_turns(later):
        try:
            entry, _ = await lookup.partition(topic.name, topic.topic_id, part.index)
        except LakestreamError as error:
            answer.refuse(slot, error)
        else:
            checks.append(_check_and_take(broker, entry, part, slot, answer, zstd_allowed))
    await asyncio.gather(*checks)
    return answer.started()


async def _check_and_take(
    broker: Broker, entry: TopicEntry, part: Any, slot: Any, answer: Answer, zstd_allowed: bool
) -> None:
    try:
        if broker.gate.is_heavy(part.records, entry.config):
            valid = await broker.gate.check_in_thread(part.records, entry.config, zstd_allowed=zstd_allowed)
        else:
            valid = broker.gate.check(part.records, entry.config, zstd_allowed=zstd_allowed)
        if broker.value_gate.guards(entry):
            await broker.value_gate.check(part.records, entry)
        _take(broker, entry, part, valid, slot, answer)
    except LakestreamError as error:
        answer.refuse(slot, error)


def _take(broker: Broker, entry: TopicEntry, part: Any, valid: ValidBatch, slot: Any, answer: Answer) -> None:
    if valid.header.is_transactional:
        raise Refused(KafkaError.INVALID_TXN_STATE, NO_TRANSACTIONS)
    answer.expect(slot, append(entry, part.index, valid, broker.wal))


def _refused(request: Any, code: int, message: str) -> Any:
    if request.acks == 0:
        raise CloseConnection(f"a request with acks=0 was refused: {message}")
    return _all_failed(request, code, message)


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    """None with acks=0: there is no way to tell, so the connection is closed."""
    return None if request.acks == 0 else _all_failed(request, code, message)


def _all_failed(request: Any, code: int, message: str) -> Any:
    return _produce.Response(
        responses=[
            _produce.TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    _produce.PartitionProduceResponse(
                        index=part.index, error_code=code, error_message=message, base_offset=NO_OFFSET
                    )
                    for part in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


API = Api(key=0, name="Produce", versions=(3, 13), advertised_min=0, start=start, error_response=error_response)

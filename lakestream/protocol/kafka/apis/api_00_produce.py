"""Produce (0), versions 3-13: store batches in the log, and answer once they are durable and have offsets.

    broker/produce -> (flush, commit) -> the last batch of a request answers it

- Batches are validated and enter the WAL in arrival order. Small ones enter at once. Heavy ones (compressed, large) are
  validated in a thread, and the connection's next request waits for that. A future waits for the flush: no request has
  a task.
- For a topic with `lakestream.validate`, the broker also checks values, and keys that have a format, against the
  registry's schemas, also in order.
- For a topic with a `compression.type` of its own, the same thread compresses batches again that came in another codec.
- acks 1 and -1 mean the same: a batch is acknowledged when it is durable, never earlier. acks 0 gets no answer; if a
  batch was refused, the broker closes the connection. The bytes of such a request count as taken in until they are
  flushed.
- A refused batch does not affect the other batches of its request.
- A transactional batch is checked against its producer's transaction when it gets its offsets. From version 12 on it
  adds its partition to the transaction; before, the partition must have been added. A batch that comes too late is
  refused with TRANSACTION_ABORTABLE, before version 11 with INVALID_TXN_STATE.
- Versions 0-2 are advertised though not served: librdkafka before 2.12 assumes that a broker with a later range has no
  compression. A request of these versions closes the connection, like any that is not served.

v5 log_start_offset. v7 zstd allowed. v8 record_errors and error_message. v9 flexible. v10 leader hints (KIP-951): left
out, since the leader epoch never changes and clients would ignore them. v11 TRANSACTION_ABORTABLE. v12 implicit part in
a transaction (KIP-890). v13 topic ids instead of names.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

from lakestream.broker.produce import Outcome, RawBatch, TopicKey
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, CloseConnection, RequestContext, Started, Starting
from lakestream.protocol.kafka.apis.produce_answer import NO_OFFSET, Answer
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire.generated import produce
from lakestream.world.turns import in_turns

ZSTD_FROM_VERSION = 7
ABORTABLE_FROM_VERSION = 11
ADDS_PARTITIONS_FROM_VERSION = 12
BY_ID_FROM_VERSION = 13


def start(request: produce.Request, context: RequestContext) -> Starting:
    if (problem := _problem_of(request)) is not None:
        return _refused(request, *problem)
    answer = Answer(
        silent=request.acks == 0,
        timeout_ms=request.timeout,
        knows_abortable=context.api_version >= ABORTABLE_FROM_VERSION,
    )
    taken = context.broker.producing.produce(
        _batches(request),
        by_id=context.api_version >= BY_ID_FROM_VERSION,
        zstd_allowed=context.api_version >= ZSTD_FROM_VERSION,
        adds_partitions=context.api_version >= ADDS_PARTITIONS_FROM_VERSION,
    )
    if not isinstance(taken, list):
        return _start_later(request, taken, answer)
    for _ in _expect_each(request, taken, answer):
        pass
    return answer.started()


async def _start_later(request: produce.Request, taking: Coroutine[Any, Any, list[Outcome]], answer: Answer) -> Started:
    async for _ in in_turns(_expect_each(request, await taking, answer)):
        pass
    return answer.started()


def _problem_of(request: produce.Request) -> tuple[int, str] | None:
    """The error of the request as a whole, if any."""
    if request.acks not in (0, 1, -1):
        return KafkaError.INVALID_REQUIRED_ACKS, f"acks={request.acks}: use 0, 1 or -1 (all)"
    return None


def _batches(request: produce.Request) -> list[RawBatch]:
    return [
        RawBatch(key, part.index, part.records)
        for topic in request.topic_data
        for key in [TopicKey(topic.name, topic.topic_id)]
        for part in topic.partition_data
    ]


def _expect_each(request: produce.Request, outcomes: list[Outcome], answer: Answer) -> Iterator[None]:
    """Give each partition its place in the answer."""
    position = 0
    for topic in request.topic_data:
        slots = answer.topic(topic)
        for part in topic.partition_data:
            slot = produce.PartitionProduceResponse(index=part.index)
            slots.append(slot)
            outcome = outcomes[position]
            position += 1
            if isinstance(outcome, LakestreamError):
                answer.refuse(slot, outcome)
            else:
                answer.expect(slot, outcome)
            yield


def _refused(request: produce.Request, code: int, message: str) -> produce.Response:
    if request.acks == 0:
        raise CloseConnection(f"a request with acks=0 was refused: {message}")
    return _all_failed(request, code, message)


def error_response(
    request: produce.Request, context: RequestContext, code: int, message: str
) -> produce.Response | None:
    """None with acks=0: the client expects no answer, so the connection is closed."""
    return None if request.acks == 0 else _all_failed(request, code, message)


def _all_failed(request: produce.Request, code: int, message: str) -> produce.Response:
    return produce.Response(
        responses=[
            produce.TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    produce.PartitionProduceResponse(
                        index=part.index, error_code=code, error_message=message, base_offset=NO_OFFSET
                    )
                    for part in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


API = Api(
    key=0,
    name="Produce",
    versions=(3, 13),
    needs=(
        Need(Operation.WRITE, ResourceType.TOPIC),
        Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, scope="transactional producers"),
        Need(
            Operation.IDEMPOTENT_WRITE,
            ResourceType.CLUSTER,
            scope="idempotent producers",
            or_else=Need(Operation.WRITE, ResourceType.TOPIC),
        ),
    ),
    advertised_min=0,
    start=start,
    error_response=error_response,
)

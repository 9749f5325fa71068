"""DescribeTransactions (65), version 0: the state of transactional ids, and the partitions of what they have open.

- Any broker answers for any transactional id.
- Offsets that a transaction will commit are not among its partitions: there is no offsets topic.
"""

from __future__ import annotations

from itertools import groupby

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.transaction import DescribedTransaction
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.transaction_states import state_name
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import describe_transactions
from lakestream.world.turns import in_turns

NOT_STARTED = -1


async def handle(request: describe_transactions.Request, context: RequestContext) -> describe_transactions.Response:
    return describe_transactions.Response(
        transaction_states=[await _state(id, context) async for id in in_turns(request.transactional_ids)]
    )


async def _state(id: str, context: RequestContext) -> describe_transactions.TransactionState:
    try:
        described = await context.broker.transactions.describe(id)
    except LakestreamError as error:
        return _failed(id, kafka_error(error)[0])
    return _failed(id, KafkaError.TRANSACTIONAL_ID_NOT_FOUND) if described is None else _described(described)


def _described(one: DescribedTransaction) -> describe_transactions.TransactionState:
    return describe_transactions.TransactionState(
        transactional_id=one.transactional_id,
        transaction_state=state_name(one),
        transaction_timeout=one.timeout_ms,
        transaction_start_time=NOT_STARTED if one.started_ms is None else one.started_ms,
        producer_id=one.producer.producer_id,
        producer_epoch=one.producer.epoch,
        topics=[
            describe_transactions.TopicData(topic=name, partitions=[part.number for part in parts])
            for name, parts in groupby(one.partitions, key=lambda part: part.topic)
        ],
    )


def _failed(id: str, code: int) -> describe_transactions.TransactionState:
    return describe_transactions.TransactionState(transactional_id=id, error_code=code)


def error_response(
    request: describe_transactions.Request, context: RequestContext, code: int, message: str
) -> describe_transactions.Response:
    return describe_transactions.Response(transaction_states=[_failed(id, code) for id in request.transactional_ids])


API = Api(
    key=65,
    name="DescribeTransactions",
    versions=(0, 0),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="topics of an open transaction; others are left out"),
    ),
    handle=handle,
    error_response=error_response,
)

"""ListTransactions (66), versions 0-2: the transactional ids that this broker coordinates; clients ask every broker.

- Filters: states, producer ids, a least duration (v1), and a regular expression that names must match (v2). An
  expression that cannot be read is INVALID_REGULAR_EXPRESSION.

v1 duration. v2 pattern.
"""

from __future__ import annotations

import re

from lakestream.broker.groups.ownership import coordinator_of
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.transaction import DescribedTransaction
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.transaction_states import NAMES, state_name
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.wire.generated import list_transactions
from lakestream.world.turns import in_turns

PATTERN_LENGTH_MAX = 200
"""A longer expression is refused: it takes too long to match."""


async def handle(request: list_transactions.Request, context: RequestContext) -> list_transactions.Response:
    broker = context.broker
    pattern = _pattern(request.transactional_id_pattern)
    now_ms = await broker.store.now_ms()
    live = broker.cluster.live()
    return list_transactions.Response(
        unknown_state_filters=[name for name in request.state_filters if name not in NAMES],
        transaction_states=[
            list_transactions.TransactionState(
                transactional_id=one.transactional_id,
                producer_id=one.producer.producer_id,
                transaction_state=state_name(one),
            )
            async for one in in_turns(await broker.transactions.list_ids())
            if coordinator_of(live, one.transactional_id).id == broker.cluster.spec.id
            and _is_wanted(one, request, now_ms)
            and (pattern is None or pattern.fullmatch(one.transactional_id))
        ],
    )


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        if len(text) > PATTERN_LENGTH_MAX:
            raise re.error(f"it is longer than {PATTERN_LENGTH_MAX} characters")
        return re.compile(text)
    except re.error as error:
        raise Refused(KafkaError.INVALID_REGULAR_EXPRESSION, f"the pattern cannot be used: {error}") from error


def _is_wanted(one: DescribedTransaction, request: list_transactions.Request, now_ms: int) -> bool:
    if request.state_filters and state_name(one) not in request.state_filters:
        return False
    if request.producer_id_filters and one.producer.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return one.started_ms is not None and now_ms - one.started_ms > request.duration_filter


def error_response(
    request: list_transactions.Request, context: RequestContext, code: int, message: str
) -> list_transactions.Response:
    return list_transactions.Response(error_code=code)


API = Api(
    key=66,
    name="ListTransactions",
    versions=(0, 2),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, scope="each one that is shown; others are left out"),
    ),
    handle=handle,
    error_response=error_response,
)

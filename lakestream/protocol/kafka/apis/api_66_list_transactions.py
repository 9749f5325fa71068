"""ListTransactions (66), versions 0-2: the transactional ids that this broker coordinates; clients ask every broker.

- Filters: states, producer ids, a least duration (v1), and a regular expression of RE2 that names must match
  (v2). An expression that cannot be read is INVALID_REGULAR_EXPRESSION.

v1 duration. v2 pattern.
"""

from __future__ import annotations

from lakestream.broker.groups.ownership import coordinator_of
from lakestream.broker.groups.topics.matching import names_matching
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.transaction import DescribedTransaction
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.transaction_states import NAMES, state_name
from lakestream.protocol.kafka.wire.generated import list_transactions
from lakestream.world.turns import in_turns


async def handle(request: list_transactions.Request, context: RequestContext) -> list_transactions.Response:
    broker = context.broker
    asked_by_name = request.transactional_id_pattern
    if asked_by_name:
        names_matching((), asked_by_name)  # refused before anything is read
    now_ms = await broker.store.now_ms()
    live = broker.cluster.live()
    listed = await broker.transactions.list_ids()
    if asked_by_name:
        wanted = names_matching([one.transactional_id for one in listed], asked_by_name)
        listed = [one for one in listed if one.transactional_id in wanted]
    return list_transactions.Response(
        unknown_state_filters=[name for name in request.state_filters if name not in NAMES],
        transaction_states=[
            list_transactions.TransactionState(
                transactional_id=one.transactional_id,
                producer_id=one.producer.producer_id,
                transaction_state=state_name(one),
            )
            async for one in in_turns(listed)
            if coordinator_of(live, one.transactional_id).id == broker.cluster.spec.id
            and _is_wanted(one, request, now_ms)
        ],
    )


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

"""EndTxn (26), versions 0-5: commit or abort a transaction, in all of its partitions and groups at once.

- One transaction of the metadata store writes the markers, notes what was aborted, commits offsets and ends the
  transaction. There is no state in between, so nothing has to be recovered or waited for.
- A repeated request reads what became of the first. A request that asks for the other outcome gets INVALID_TXN_STATE.
- From version 5 on (transaction version 2) the answer carries the producer's next epoch, or a new producer id where
  epochs are used up.

v2 PRODUCER_FENCED. v3 flexible. v4 allows TRANSACTION_ABORTABLE. v5 producer id and epoch in the answer (KIP-890).
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.transaction import TransactionalProducer
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.fenced import fenced_as_known
from lakestream.protocol.kafka.wire.generated import end_txn

FENCED_FROM_VERSION = 2
BUMP_FROM_VERSION = 5


async def handle(request: end_txn.Request, context: RequestContext) -> end_txn.Response:
    producer = TransactionalProducer(request.transactional_id, request.producer_id, request.producer_epoch)
    bump = context.api_version >= BUMP_FROM_VERSION
    with fenced_as_known(context.api_version, FENCED_FROM_VERSION):
        identity = await context.broker.transactions.end(producer, committed=request.committed, bump=bump)
    return end_txn.Response(producer_id=identity.producer_id, producer_epoch=identity.epoch)


def error_response(request: end_txn.Request, context: RequestContext, code: int, message: str) -> end_txn.Response:
    return end_txn.Response(error_code=code)


API = Api(
    key=26,
    name="EndTxn",
    versions=(0, 5),
    needs=(Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID),),
    handle=handle,
    error_response=error_response,
)

"""AddOffsetsToTxn (25), versions 0-4: announce that a transaction will commit offsets of a group, and begin it.

- The offsets follow with TxnOffsetCommit. There is no partition of an offsets topic to add, so this only begins the
  transaction where none is open. Producers of transaction version 2 do not send it.

v2 PRODUCER_FENCED. v3 flexible. v4 allows TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.transaction import TransactionalProducer
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.fenced import fenced_as_known
from lakestream.protocol.kafka.wire.generated import add_offsets_to_txn

FENCED_FROM_VERSION = 2


async def handle(request: add_offsets_to_txn.Request, context: RequestContext) -> add_offsets_to_txn.Response:
    producer = TransactionalProducer(request.transactional_id, request.producer_id, request.producer_epoch)
    with fenced_as_known(context.api_version, FENCED_FROM_VERSION):
        await context.broker.transactions.begin(producer)
    return add_offsets_to_txn.Response()


def error_response(
    request: add_offsets_to_txn.Request, context: RequestContext, code: int, message: str
) -> add_offsets_to_txn.Response:
    return add_offsets_to_txn.Response(error_code=code)


API = Api(
    key=25,
    name="AddOffsetsToTxn",
    versions=(0, 4),
    needs=(Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID), Need(Operation.READ, ResourceType.GROUP)),
    handle=handle,
    error_response=error_response,
)

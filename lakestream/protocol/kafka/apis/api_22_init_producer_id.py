"""InitProducerId (22), versions 0-5: an id under which a producer numbers its batches, so that none is stored twice.

- Without a transactional id: ids are unique over all brokers and for ever; the epoch begins at 0. A producer that asks
  again gets a new id.
- With a transactional id: the producer gets the next epoch. That shuts out all earlier ones, and what they left open is
  aborted at once, so CONCURRENT_TRANSACTIONS is never answered. A producer that names its last id and epoch (KIP-360)
  gets the next epoch only while no other producer took over (PRODUCER_FENCED, before version 4 INVALID_PRODUCER_EPOCH).

v2 flexible. v3 the producer's last id and epoch. v4 PRODUCER_FENCED. v5 allows TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.model.transaction import ProducerIdentity
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.fenced import fenced_as_known
from lakestream.protocol.kafka.wire.generated import init_producer_id

FIRST_EPOCH = 0
FENCED_FROM_VERSION = 4
NO_PRODUCER, NO_EPOCH = -1, -1


async def handle(request: init_producer_id.Request, context: RequestContext) -> init_producer_id.Response:
    if request.transactional_id == "":
        raise InvalidRequest("an empty transactional id: leave it out for an idempotent producer")
    if (request.producer_id == NO_PRODUCER) != (request.producer_epoch == NO_EPOCH):
        raise InvalidRequest("a producer's last id without its epoch, or an epoch without id: send both, or neither")
    broker = context.broker
    if request.transactional_id is not None:
        known = ProducerIdentity(request.producer_id, request.producer_epoch)
        with fenced_as_known(context.api_version, FENCED_FROM_VERSION):
            identity = await broker.transactions.begin_producer(
                request.transactional_id,
                request.transaction_timeout,
                None if request.producer_id == NO_PRODUCER else known,
            )
        return init_producer_id.Response(producer_id=identity.producer_id, producer_epoch=identity.epoch)
    return init_producer_id.Response(producer_id=await broker.producer_ids.next(), producer_epoch=FIRST_EPOCH)


def error_response(
    request: init_producer_id.Request, context: RequestContext, code: int, message: str
) -> init_producer_id.Response:
    return init_producer_id.Response(error_code=code, producer_id=NO_PRODUCER, producer_epoch=NO_EPOCH)


API = Api(
    key=22,
    name="InitProducerId",
    versions=(0, 5),
    needs=(
        Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, scope="transactional producers"),
        Need(
            Operation.IDEMPOTENT_WRITE,
            ResourceType.CLUSTER,
            scope="other producers",
            or_else=Need(Operation.WRITE, ResourceType.TOPIC, scope="any one topic"),
        ),
    ),
    handle=handle,
    error_response=error_response,
)

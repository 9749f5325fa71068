"""InitProducerId (22), versions 0-5: an id under which a producer numbers its batches, so that none is stored twice.

- Ids are unique over all brokers and for ever; the epoch begins at 0. A producer that asks again gets a new id.
- Transactions are not served yet: a transactional id is refused with the one error that every client treats as final.

v2 flexible. v3 the producer's last id and epoch (KIP-360), which matter to transactions alone. v5 allows
TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.wire.generated import init_producer_id

FIRST_EPOCH = 0
NO_PRODUCER, NO_EPOCH = -1, -1


async def handle(request: init_producer_id.Request, context: RequestContext) -> init_producer_id.Response:
    if request.transactional_id == "":
        raise InvalidRequest("an empty transactional id: leave it out for an idempotent producer")
    if request.transactional_id is not None:
        raise Refused(
            KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "transactions are not served yet: leave transactional.id unset",
        )
    if (request.producer_id == NO_PRODUCER) != (request.producer_epoch == NO_EPOCH):
        raise InvalidRequest("a producer's last id without its epoch, or an epoch without id: send both, or neither")
    broker = context.broker
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

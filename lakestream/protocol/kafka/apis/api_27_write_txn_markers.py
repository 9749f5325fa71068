"""WriteTxnMarkers (27), versions 1-2: abort a transaction as an administrator (`kafka-transactions.sh abort`).

- Brokers of Kafka send it to one another. Here the end of a transaction is one step of the metadata store, so only
  administrators do, to abort a transaction that hangs. An abort ends it in all of its partitions, not only in those
  named, and fences its producer.
- A producer that has no open transaction under this epoch is answered without an error: there is nothing left to do.
- A commit is refused with INVALID_TXN_STATE: only the producer itself decides that.

v2 transaction version of the marker.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import write_txn_markers
from lakestream.world.turns import in_turns


async def handle(request: write_txn_markers.Request, context: RequestContext) -> write_txn_markers.Response:
    return write_txn_markers.Response(
        markers=[_result(marker, await _ended(marker, context)) async for marker in in_turns(request.markers)]
    )


async def _ended(marker: write_txn_markers.request.WritableTxnMarker, context: RequestContext) -> int:
    if marker.transaction_result:
        return int(KafkaError.INVALID_TXN_STATE)
    try:
        await context.broker.transactions.abort_producer(marker.producer_id, marker.producer_epoch)
    except LakestreamError as error:
        return kafka_error(error)[0]
    return int(KafkaError.NONE)


def _result(
    marker: write_txn_markers.request.WritableTxnMarker, code: int
) -> write_txn_markers.WritableTxnMarkerResult:
    return write_txn_markers.WritableTxnMarkerResult(
        producer_id=marker.producer_id,
        topics=[
            write_txn_markers.WritableTxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    write_txn_markers.WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )


def error_response(
    request: write_txn_markers.Request, context: RequestContext, code: int, message: str
) -> write_txn_markers.Response:
    return write_txn_markers.Response(markers=[_result(marker, code) for marker in request.markers])


API = Api(
    key=27,
    name="WriteTxnMarkers",
    versions=(1, 2),
    needs=(
        Need(
            Operation.CLUSTER_ACTION,
            ResourceType.CLUSTER,
            or_else=Need(Operation.ALTER, ResourceType.CLUSTER),
        ),
    ),
    handle=handle,
    error_response=error_response,
)

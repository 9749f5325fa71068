"""AddPartitionsToTxn (24), versions 0-5: add partitions to a transaction, and begin it where none is open.

- If one partition of a transaction does not exist, none is added: that one is UNKNOWN_TOPIC_OR_PARTITION, the others
  are OPERATION_NOT_ATTEMPTED, as in Kafka.
- Producers of transaction version 2 do not send it: their batches add partitions.
- From version 4 on, brokers of Kafka send it for several transactions, also to ask whether partitions were added
  (`verify_only`). Both are served.

v2 PRODUCER_FENCED. v3 flexible. v4 several transactions. v5 allows TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakestream.broker.broker import Broker
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import TransactionalProducer
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.fenced import fenced_as_known
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import add_partitions_to_txn
from lakestream.world.turns import in_turns

FENCED_FROM_VERSION = 2
MANY_FROM_VERSION = 4

Topics = Sequence["add_partitions_to_txn.request.AddPartitionsToTxnTopic"]
Place = tuple[str, int]


async def handle(request: add_partitions_to_txn.Request, context: RequestContext) -> add_partitions_to_txn.Response:
    if context.api_version < MANY_FROM_VERSION:
        producer = TransactionalProducer(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
        )
        codes = await _added(producer, request.v3_and_below_topics, context, verify_only=False)
        return add_partitions_to_txn.Response(results_by_topic_v3_and_below=_results(codes))
    results = []
    async for each in in_turns(request.transactions):
        producer = TransactionalProducer(each.transactional_id, each.producer_id, each.producer_epoch)
        codes = await _added(producer, each.topics, context, verify_only=each.verify_only)
        results.append(
            add_partitions_to_txn.AddPartitionsToTxnResult(
                transactional_id=each.transactional_id, topic_results=_results(codes)
            )
        )
    return add_partitions_to_txn.Response(results_by_transaction=results)


async def _added(
    producer: TransactionalProducer, topics: Topics, context: RequestContext, *, verify_only: bool
) -> dict[Place, int]:
    """The code of each partition."""
    found = await _found(topics, context.broker)
    missing = {place: kafka_error(each)[0] for place, each in found.items() if isinstance(each, LakestreamError)}
    if missing:
        return {place: missing.get(place, int(KafkaError.OPERATION_NOT_ATTEMPTED)) for place in found}
    partitions = [each for each in found.values() if isinstance(each, PartitionId)]
    transactions = context.broker.transactions
    try:
        with fenced_as_known(context.api_version, FENCED_FROM_VERSION):
            if verify_only:
                added = await transactions.has_partitions(producer, partitions)
                not_added = int(KafkaError.TRANSACTION_ABORTABLE)
                return {place: 0 if yes else not_added for place, yes in zip(found, added, strict=True)}
            await transactions.add_partitions(producer, partitions)
    except LakestreamError as error:
        return dict.fromkeys(found, kafka_error(error)[0])
    return dict.fromkeys(found, int(KafkaError.NONE))


async def _found(topics: Topics, broker: Broker) -> dict[Place, PartitionId | LakestreamError]:
    lookup = TopicLookup(broker.directory)
    found: dict[Place, PartitionId | LakestreamError] = {}
    async for name, number in in_turns([(topic.name, number) for topic in topics for number in topic.partitions]):
        try:
            _, found[name, number] = await lookup.partition(name, NO_TOPIC_ID, number)
        except LakestreamError as error:
            found[name, number] = error
    return found


def _results(codes: dict[Place, int]) -> list[add_partitions_to_txn.AddPartitionsToTxnTopicResult]:
    by_topic: dict[str, list[add_partitions_to_txn.AddPartitionsToTxnPartitionResult]] = {}
    for (name, number), code in codes.items():
        by_topic.setdefault(name, []).append(
            add_partitions_to_txn.AddPartitionsToTxnPartitionResult(partition_index=number, partition_error_code=code)
        )
    return [
        add_partitions_to_txn.AddPartitionsToTxnTopicResult(name=name, results_by_partition=results)
        for name, results in by_topic.items()
    ]


def error_response(
    request: add_partitions_to_txn.Request, context: RequestContext, code: int, message: str
) -> add_partitions_to_txn.Response:
    if context.api_version >= MANY_FROM_VERSION:
        return add_partitions_to_txn.Response(error_code=code)
    places = [(topic.name, number) for topic in request.v3_and_below_topics for number in topic.partitions]
    return add_partitions_to_txn.Response(results_by_topic_v3_and_below=_results(dict.fromkeys(places, code)))


API = Api(
    key=24,
    name="AddPartitionsToTxn",
    versions=(0, 5),
    needs=(
        Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, scope="versions 0-3"),
        Need(Operation.WRITE, ResourceType.TOPIC, scope="versions 0-3"),
        Need(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, scope="versions 4 and above, which brokers send"),
    ),
    handle=handle,
    error_response=error_response,
)

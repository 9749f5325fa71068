"""TxnOffsetCommit (28), versions 0-5: offsets that a group gets when the transaction commits.

- The offsets are kept with the transaction in the metadata store, and become the group's in the same step in which the
  transaction ends. An abort drops them.
- The group's coordinator checks the member, as for OffsetCommit.
- From version 5 on (transaction version 2) the request begins a transaction where none is open. Before, that is
  INVALID_TXN_STATE.

v2 leader epochs. v3 flexible; member, generation and instance are checked. v4 allows TRANSACTION_ABORTABLE. v5 begins.
"""

from __future__ import annotations

from lakestream.broker.groups.offsets import CommitAsk
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import CommittedOffset
from lakestream.model.transaction import TransactionalProducer
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.fenced import fenced_as_known
from lakestream.protocol.kafka.apis.group_topics import asked_partitions
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import txn_offset_commit
from lakestream.world.turns import in_turns

FENCED_FROM_VERSION = 3
BEGINS_FROM_VERSION = 5
NONE = int(KafkaError.NONE)


async def handle(request: txn_offset_commit.Request, context: RequestContext) -> txn_offset_commit.Response:
    if not request.topics:
        return txn_offset_commit.Response()
    lookup = TopicLookup(context.broker.directory)
    asked = [
        (topic.name, await asked_partitions(lookup, topic.name, NO_TOPIC_ID, topic.partitions))
        async for topic in in_turns(request.topics)
    ]
    ask = CommitAsk(
        group=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        in_transaction=True,
        offsets={
            found: CommittedOffset(part.committed_offset, part.committed_leader_epoch, part.committed_metadata or "")
            for _, parts in asked
            for part, found in parts
            if not isinstance(found, LakestreamError)
        },
    )
    producer = TransactionalProducer(request.transactional_id, request.producer_id, request.producer_epoch)
    with fenced_as_known(context.api_version, FENCED_FROM_VERSION):
        refused = await context.broker.transactions.commit_offsets(
            producer, ask, begins=context.api_version >= BEGINS_FROM_VERSION
        )
    topics = []
    for name, parts in asked:
        answers = []
        for part, found in parts:
            error = found if isinstance(found, LakestreamError) else refused.get(found)
            answers.append(_answer(part.partition_index, NONE if error is None else kafka_error(error)[0]))
        topics.append(txn_offset_commit.TxnOffsetCommitResponseTopic(name=name, partitions=answers))
    return txn_offset_commit.Response(topics=topics)


def _answer(index: int, code: int) -> txn_offset_commit.TxnOffsetCommitResponsePartition:
    return txn_offset_commit.TxnOffsetCommitResponsePartition(partition_index=index, error_code=code)


def error_response(
    request: txn_offset_commit.Request, context: RequestContext, code: int, message: str
) -> txn_offset_commit.Response:
    return txn_offset_commit.Response(
        topics=[
            txn_offset_commit.TxnOffsetCommitResponseTopic(
                name=topic.name, partitions=[_answer(part.partition_index, code) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=28,
    name="TxnOffsetCommit",
    versions=(0, 5),
    needs=(
        Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Need(Operation.READ, ResourceType.GROUP),
        Need(Operation.READ, ResourceType.TOPIC),
    ),
    handle=handle,
    error_response=error_response,
)

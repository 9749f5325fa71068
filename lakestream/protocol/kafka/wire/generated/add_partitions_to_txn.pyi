"""AddPartitionsToTxn, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    v3_and_below_transactional_id: str = ""
    v3_and_below_producer_id: int = 0
    v3_and_below_producer_epoch: int = 0
    v3_and_below_topics: Sequence[request.AddPartitionsToTxnTopic] = ()
    transactions: Sequence[request.AddPartitionsToTxnTransaction] = ()

class request:  # noqa: N801
    class AddPartitionsToTxnTopic(Shape):
        name: str = ""
        partitions: Sequence[int] = ()

    class AddPartitionsToTxnTransaction(Shape):
        transactional_id: str = ""
        producer_id: int = 0
        producer_epoch: int = 0
        verify_only: bool = False
        topics: Sequence[request.AddPartitionsToTxnTopic] = ()

class Response(Shape):
    throttle_time: int = 0
    results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = ()
    error_code: int = 0
    results_by_transaction: Sequence[AddPartitionsToTxnResult] = ()

class AddPartitionsToTxnTopicResult(Shape):
    name: str = ""
    results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = ()

class AddPartitionsToTxnPartitionResult(Shape):
    partition_index: int = 0
    partition_error_code: int = 0

class AddPartitionsToTxnResult(Shape):
    transactional_id: str = ""
    topic_results: Sequence[AddPartitionsToTxnTopicResult] = ()

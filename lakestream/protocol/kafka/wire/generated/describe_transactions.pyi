"""DescribeTransactions, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    transactional_ids: Sequence[str] = ()

class Response(Shape):
    throttle_time: int = 0
    transaction_states: Sequence[TransactionState] = ()

class TransactionState(Shape):
    error_code: int = 0
    transactional_id: str = ""
    transaction_state: str = ""
    transaction_timeout: int = 0
    transaction_start_time: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    topics: Sequence[TopicData] = ()

class TopicData(Shape):
    topic: str = ""
    partitions: Sequence[int] = ()

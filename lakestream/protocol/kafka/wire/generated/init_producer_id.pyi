"""InitProducerId, versions 0-6. Made by `python -m lakestream.protocol.kafka.stubs`."""

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    transactional_id: str | None = None
    transaction_timeout: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    enable2_pc: bool = False
    keep_prepared_txn: bool = False

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1
    ongoing_txn_producer_epoch: int = -1

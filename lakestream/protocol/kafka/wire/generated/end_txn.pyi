"""EndTxn, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = -1

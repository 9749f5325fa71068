"""ShareGroupHeartbeat, versions 1-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    rack_id: str | None = None
    subscribed_topic_names: Sequence[str] | None = None

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval: int = 0
    assignment: Assignment | None = None

class Assignment(Shape):
    topic_partitions: Sequence[TopicPartitions] = ()

class TopicPartitions(Shape):
    topic_id: bytes = ...
    partitions: Sequence[int] = ()

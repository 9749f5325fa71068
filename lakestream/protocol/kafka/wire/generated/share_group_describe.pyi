"""ShareGroupDescribe, versions 1-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_ids: Sequence[str] = ()
    include_authorized_operations: bool = False

class Response(Shape):
    throttle_time: int = 0
    groups: Sequence[DescribedGroup] = ()

class DescribedGroup(Shape):
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ""
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: Sequence[Member] = ()
    authorized_operations: int = -2147483648

class Member(Shape):
    member_id: str = ""
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: Sequence[str] = ()
    assignment: Assignment = ...

class Assignment(Shape):
    topic_partitions: Sequence[TopicPartitions] = ()

class TopicPartitions(Shape):
    topic_id: bytes = ...
    topic_name: str = ""
    partitions: Sequence[int] = ()

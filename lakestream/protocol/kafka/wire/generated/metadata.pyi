"""Metadata, versions 0-13. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.MetadataRequestTopic] | None = ()
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False

class request:  # noqa: N801
    class MetadataRequestTopic(Shape):
        name: str | None = None
        topic_id: bytes = ...

class Response(Shape):
    brokers: Sequence[MetadataResponseBroker] = ()
    topics: Sequence[MetadataResponseTopic] = ()
    controller_id: int = -1
    cluster_id: str | None = None
    throttle_time: int = 0
    cluster_authorized_operations: int = -2147483648
    error_code: int = 0

class MetadataResponseBroker(Shape):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None

class MetadataResponseTopic(Shape):
    error_code: int = 0
    name: str | None = None
    partitions: Sequence[MetadataResponsePartition] = ()
    is_internal: bool = False
    topic_authorized_operations: int = -2147483648
    topic_id: bytes = ...

class MetadataResponsePartition(Shape):
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    replica_nodes: Sequence[int] = ()
    isr_nodes: Sequence[int] = ()
    offline_replicas: Sequence[int] = ()
    leader_epoch: int = -1

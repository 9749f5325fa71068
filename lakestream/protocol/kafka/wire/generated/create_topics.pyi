"""CreateTopics, versions 2-7. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.CreatableTopic] = ()
    timeout: int = 60000
    validate_only: bool = False

class request:  # noqa: N801
    class CreatableTopic(Shape):
        name: str = ""
        num_partitions: int = 0
        replication_factor: int = 0
        assignments: Sequence[request.CreatableReplicaAssignment] = ()
        configs: Sequence[request.CreatableTopicConfig] = ()

    class CreatableReplicaAssignment(Shape):
        partition_index: int = 0
        broker_ids: Sequence[int] = ()

    class CreatableTopicConfig(Shape):
        name: str = ""
        value: str | None = None

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[CreatableTopicResult] = ()

class CreatableTopicResult(Shape):
    name: str = ""
    error_code: int = 0
    error_message: str | None = None
    topic_config_error_code: int = 0
    num_partitions: int = -1
    replication_factor: int = -1
    configs: Sequence[CreatableTopicConfigs] | None = ()
    topic_id: bytes = ...

class CreatableTopicConfigs(Shape):
    name: str = ""
    value: str | None = None
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False

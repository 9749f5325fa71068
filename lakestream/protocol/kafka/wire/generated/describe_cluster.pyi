"""DescribeCluster, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    cluster_id: str = ""
    controller_id: int = -1
    brokers: Sequence[DescribeClusterBroker] = ()
    cluster_authorized_operations: int = -2147483648
    endpoint_type: int = 1

class DescribeClusterBroker(Shape):
    broker_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    is_fenced: bool = False

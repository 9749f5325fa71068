"""DeleteAcls, versions 1-3. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    filters: Sequence[request.DeleteAclsFilter] = ()

class request:  # noqa: N801
    class DeleteAclsFilter(Shape):
        resource_type_filter: int = 0
        resource_name_filter: str | None = None
        pattern_type_filter: int = 3
        principal_filter: str | None = None
        host_filter: str | None = None
        operation: int = 0
        permission_type: int = 0

class Response(Shape):
    throttle_time: int = 0
    filter_results: Sequence[DeleteAclsFilterResult] = ()

class DeleteAclsFilterResult(Shape):
    error_code: int = 0
    error_message: str | None = None
    matching_acls: Sequence[DeleteAclsMatchingAcl] = ()

class DeleteAclsMatchingAcl(Shape):
    error_code: int = 0
    error_message: str | None = None
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 3
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0

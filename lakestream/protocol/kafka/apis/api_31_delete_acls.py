"""DeleteAcls (31), versions 1-3: remove the ACLs that any of some filters takes, and tell which.

- A removed ACL counts no longer at this broker when the request is answered, and nowhere else within a second.
- A filter takes only ACLs that Kafka has numbers for: grants on tables, views, namespaces and subjects stay.
- SECURITY_DISABLED if ACLs are not checked here.

v1 pattern types. v2 flexible. v3 users as resources, which have no ACLs here.
"""

from __future__ import annotations

from dataclasses import replace

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import Acl, AclFilter
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.acl_words import (
    RESOURCES,
    check_enabled,
    filter_of,
    operation_number,
    resource_number,
)
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import delete_acls


async def handle(request: delete_acls.Request, context: RequestContext) -> delete_acls.Response:
    check_enabled(context)
    read = [_read(asked) for asked in request.filters]
    wanted = [each for some in read if isinstance(some, list) for each in some]
    removed = iter(await context.broker.authorizer.remove_acls(wanted, by=context.caller) if wanted else ())
    results = []
    for each in read:
        if isinstance(each, list):
            acls = [acl for _ in each for acl in next(removed)]
            results.append(delete_acls.DeleteAclsFilterResult(matching_acls=[_matching(acl) for acl in acls]))
        else:
            results.append(_failed(*each))
    return delete_acls.Response(filter_results=results)


def _read(asked: delete_acls.request.DeleteAclsFilter) -> list[AclFilter] | tuple[int, str]:
    """A filter for every type of resource becomes one for each type that Kafka knows."""
    try:
        wanted = filter_of(asked)
    except LakestreamError as error:
        return kafka_error(error)
    if wanted.resource is not None:
        return [wanted]
    return [replace(wanted, resource=resource) for resource in RESOURCES.values()]


def _matching(acl: Acl) -> delete_acls.DeleteAclsMatchingAcl:
    return delete_acls.DeleteAclsMatchingAcl(
        resource_type=resource_number(acl),
        resource_name=acl.name,
        pattern_type=int(acl.pattern),
        principal=acl.principal,
        host=acl.host,
        operation=operation_number(acl),
        permission_type=int(acl.permission),
    )


def _failed(code: int, message: str) -> delete_acls.DeleteAclsFilterResult:
    return delete_acls.DeleteAclsFilterResult(error_code=code, error_message=message, matching_acls=[])


def error_response(
    request: delete_acls.Request, context: RequestContext, code: int, message: str
) -> delete_acls.Response:
    return delete_acls.Response(filter_results=[_failed(code, message) for _ in request.filters])


API = Api(
    key=31,
    name="DeleteAcls",
    versions=(1, 3),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

"""DescribeAcls (29), versions 1-3: the ACLs that a filter takes.

- SECURITY_DISABLED if ACLs are not checked here.
- Grants on tables, views, namespaces and subjects are not shown: Kafka has no numbers for these resources.

v1 pattern types. v2 flexible. v3 users as resources, which have no ACLs here.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import Acl
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.acl_words import (
    check_enabled,
    filter_of,
    has_number,
    operation_number,
    resource_number,
)
from lakestream.protocol.kafka.wire.generated import describe_acls
from lakestream.world.turns import in_turns


async def handle(request: describe_acls.Request, context: RequestContext) -> describe_acls.Response:
    check_enabled(context)
    wanted = filter_of(request)
    await context.broker.authorizer.refresh()
    found: dict[tuple[int, str, int], list[describe_acls.AclDescription]] = {}
    async for acl in in_turns(context.broker.authorizer.acls):
        if has_number(acl) and wanted.takes(acl):
            found.setdefault((resource_number(acl), acl.name, int(acl.pattern)), []).append(_described(acl))
    return describe_acls.Response(
        resources=[
            describe_acls.DescribeAclsResource(resource_type=kind, resource_name=name, pattern_type=pattern, acls=acls)
            for (kind, name, pattern), acls in found.items()
        ]
    )


def _described(acl: Acl) -> describe_acls.AclDescription:
    return describe_acls.AclDescription(
        principal=acl.principal,
        host=acl.host,
        operation=operation_number(acl),
        permission_type=int(acl.permission),
    )


def error_response(
    request: describe_acls.Request, context: RequestContext, code: int, message: str
) -> describe_acls.Response:
    return describe_acls.Response(error_code=code, error_message=message, resources=[])


API = Api(
    key=29,
    name="DescribeAcls",
    versions=(1, 3),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

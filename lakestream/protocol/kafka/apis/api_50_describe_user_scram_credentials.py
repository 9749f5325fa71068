"""DescribeUserScramCredentials (50), version 0: which users have passwords, by mechanism. Passwords are not shown.

- A user that does not exist gets RESOURCE_NOT_FOUND, one that is named twice DUPLICATE_RESOURCE.
"""

from __future__ import annotations

from collections import Counter

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.credential import Credential
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire.generated import describe_user_scram_credentials as describe


async def handle(request: describe.Request, context: RequestContext) -> describe.Response:
    authorizer = context.broker.authorizer
    await authorizer.refresh()
    by_user: dict[str, list[Credential]] = {}
    for credential in authorizer.credentials:
        by_user.setdefault(credential.user, []).append(credential)
    counts = Counter(each.name for each in request.users) if request.users else Counter(by_user.keys())
    return describe.Response(results=[_result(name, by_user.get(name, []), counts[name]) for name in counts])


def _result(name: str, credentials: list[Credential], times: int) -> describe.DescribeUserScramCredentialsResult:
    code = KafkaError.NONE if credentials else KafkaError.RESOURCE_NOT_FOUND
    if times > 1:
        code, credentials = KafkaError.DUPLICATE_RESOURCE, []
    return describe.DescribeUserScramCredentialsResult(
        user=name,
        error_code=code,
        error_message=None if code is KafkaError.NONE else "there is no such user, or it is named twice",
        credential_infos=[
            describe.CredentialInfo(mechanism=int(each.mechanism), iterations=each.iterations) for each in credentials
        ],
    )


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(error_code=code, error_message=message, results=[])


API = Api(
    key=50,
    name="DescribeUserScramCredentials",
    versions=(0, 0),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

"""AlterUserScramCredentials (51), version 0: set and remove users' passwords.

- The client salts and hashes the password itself. The broker keeps what SCRAM needs, from which the password cannot be
  computed.
- A change counts at this broker when the request is answered, and everywhere else within a second. Open connections
  stay logged in.
- A user with two changes of one mechanism in a request gets DUPLICATE_RESOURCE for all of its changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from lakestream.access.scram import credential_from_salted
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.credential import Mechanism
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import alter_user_scram_credentials as alter

Change: TypeAlias = "alter.request.ScramCredentialDeletion | alter.request.ScramCredentialUpsertion"


async def handle(request: alter.Request, context: RequestContext) -> alter.Response:
    changes: list[Change] = [*request.deletions, *request.upsertions]
    counts = Counter((each.name, each.mechanism) for each in changes)
    twice = {name for (name, _), count in counts.items() if count > 1}
    told: dict[str, tuple[int, str | None]] = {}
    for each in changes:
        if each.name in twice:
            told[each.name] = (KafkaError.DUPLICATE_RESOURCE, "a user is named twice for one mechanism")
        elif told.get(each.name, (KafkaError.NONE, None))[0] == KafkaError.NONE:
            told[each.name] = await _change(each, context)
    return alter.Response(results=[_result(name, *error) for name, error in told.items()])


async def _change(asked: Change, context: RequestContext) -> tuple[int, str | None]:
    authorizer = context.broker.authorizer
    try:
        mechanism = _mechanism(asked.mechanism)
        if isinstance(asked, alter.request.ScramCredentialDeletion):
            await authorizer.remove_credential(asked.name, mechanism, by=context.caller)
        else:
            salted, salt = bytes(asked.salted_password), bytes(asked.salt)
            if len(salted) != mechanism.hash_bytes:
                raise Refused(KafkaError.UNACCEPTABLE_CREDENTIAL, "a salted password is as long as its hash")
            credential = credential_from_salted(asked.name, salted, mechanism, salt, asked.iterations)
            await authorizer.put_credential(credential, by=context.caller)
    except LakestreamError as error:
        return kafka_error(error)
    return KafkaError.NONE, None


def _mechanism(number: int) -> Mechanism:
    try:
        return Mechanism(number)
    except ValueError:
        raise Refused(KafkaError.UNSUPPORTED_SASL_MECHANISM, f"there is no SCRAM mechanism {number}") from None


def _result(name: str, code: int, message: str | None) -> alter.AlterUserScramCredentialsResult:
    return alter.AlterUserScramCredentialsResult(user=name, error_code=code, error_message=message)


def error_response(request: alter.Request, context: RequestContext, code: int, message: str) -> alter.Response:
    changes: list[Change] = [*request.deletions, *request.upsertions]
    names = dict.fromkeys(each.name for each in changes)
    return alter.Response(results=[_result(name, code, message) for name in names])


API = Api(
    key=51,
    name="AlterUserScramCredentials",
    versions=(0, 0),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

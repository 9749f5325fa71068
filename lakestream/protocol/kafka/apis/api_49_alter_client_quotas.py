"""AlterClientQuotas (49), versions 0-1: set and remove quotas of users and client ids.

- `producer_byte_rate`, `consumer_byte_rate` and `request_percentage` are held, by each broker for itself, as in Kafka.
  `controller_mutation_rate`, and quotas by address, are refused, since nothing here would hold them.
- A change counts at this broker when the request is answered, and everywhere else within a second.
- Changes of one entity are all made or none. An entity that is named twice is refused.

v1 flexible.
"""

from __future__ import annotations

from collections import Counter

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.quota import InvalidQuota, QuotaChange, QuotaEntity, QuotaKind, check_change
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.quota_entities import entity_of
from lakestream.protocol.kafka.wire.generated import alter_client_quotas as alter

KINDS = {kind.value: kind for kind in QuotaKind}


async def handle(request: alter.Request, context: RequestContext) -> alter.Response:
    counts = Counter(_key(entry) for entry in request.entries)
    results = []
    for entry in request.entries:
        code, message = await _change(entry, context, validate_only=request.validate_only, times=counts[_key(entry)])
        results.append(_result(entry, code, message))
    return alter.Response(entries=results)


def _key(entry: alter.request.EntryData) -> frozenset[tuple[str, str | None]]:
    return frozenset((part.entity_type, part.entity_name) for part in entry.entity)


async def _change(
    entry: alter.request.EntryData, context: RequestContext, *, validate_only: bool, times: int
) -> tuple[int, str | None]:
    try:
        if times > 1:
            raise InvalidQuota("an entity is named twice")
        entity = entity_of(entry.entity)
        changes = [_change_of(entity, op) for op in entry.ops]
        for change in changes:
            check_change(change)
        if not validate_only:
            await context.broker.quotas.change(changes, by=context.caller)
    except LakestreamError as error:
        return kafka_error(error)
    return KafkaError.NONE, None


def _change_of(entity: QuotaEntity, op: alter.request.OpData) -> QuotaChange:
    if op.key not in KINDS:
        raise InvalidQuota(f"there is no quota '{op.key}' here: {', '.join(KINDS)}")
    return QuotaChange(entity, KINDS[op.key], None if op.remove else op.value)


def _result(entry: alter.request.EntryData, code: int, message: str | None) -> alter.EntryData:
    return alter.EntryData(
        error_code=code,
        error_message=message,
        entity=[alter.EntityData(entity_type=part.entity_type, entity_name=part.entity_name) for part in entry.entity],
    )


def error_response(request: alter.Request, context: RequestContext, code: int, message: str) -> alter.Response:
    return alter.Response(entries=[_result(entry, code, message) for entry in request.entries])


API = Api(
    key=49,
    name="AlterClientQuotas",
    versions=(0, 1),
    needs=(Need(Operation.ALTER_CONFIGS, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

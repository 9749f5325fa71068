"""DescribeClientQuotas (48), versions 0-1: the quotas of users and client ids that a filter takes.

- Without components, a filter takes all quotas. `strict` leaves out quotas of entities with further parts.
- Quotas by address (`ip`) do not exist here; a filter for them takes none.

v1 flexible.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.quota import Quota
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.quota_entities import ENTITY_TYPES, parts_of, wire_name
from lakestream.protocol.kafka.wire.generated import describe_client_quotas as describe

EXACT, OF_DEFAULT, ANY = 0, 1, 2
"""How a component matches: this name, the default, any name or the default."""


async def handle(request: describe.Request, context: RequestContext) -> describe.Response:
    wanted = {each.entity_type: each for each in request.components}
    if len(wanted) < len(request.components):
        raise Refused(KafkaError.INVALID_REQUEST, "an entity type is named twice")
    if unknown := wanted.keys() - ENTITY_TYPES:
        raise Refused(KafkaError.INVALID_REQUEST, f"there is no entity type '{min(unknown)}'")
    if any(each.match_type not in (EXACT, OF_DEFAULT, ANY) for each in request.components):
        raise Refused(KafkaError.INVALID_REQUEST, "a match type is 0 (name), 1 (default) or 2 (any)")
    quotas = context.broker.quotas
    await quotas.refresh()
    found: dict[tuple[tuple[str, str | None], ...], list[Quota]] = {}
    for quota in quotas.all:
        parts = parts_of(quota.entity)
        if _takes(wanted, parts, strict=request.strict):
            found.setdefault(tuple((kind, wire_name(part)) for kind, part in parts.items()), []).append(quota)
    return describe.Response(
        error_message=None,
        entries=[
            describe.EntryData(
                entity=[describe.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                values=[describe.ValueData(key=each.kind.value, value=each.per_second) for each in own],
            )
            for entity, own in found.items()
        ],
    )


def _takes(wanted: Mapping[str, describe.request.ComponentData], parts: Mapping[str, object], *, strict: bool) -> bool:
    if strict and wanted and parts.keys() != wanted.keys():
        return False
    return all(kind in parts and _matches(component, parts[kind]) for kind, component in wanted.items())


def _matches(component: describe.request.ComponentData, part: object) -> bool:
    if component.match_type == ANY:
        return True
    return part == component.match if component.match_type == EXACT else not isinstance(part, str)


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(error_code=code, error_message=message, entries=None)


API = Api(
    key=48,
    name="DescribeClientQuotas",
    versions=(0, 1),
    needs=(Need(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

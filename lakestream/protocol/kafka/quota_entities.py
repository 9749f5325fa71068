"""Entities of quotas in Kafka's words: a list of types and names, where no name stands for the default."""

from collections.abc import Iterable
from typing import Protocol

from lakestream.model.quota import DEFAULT, InvalidQuota, Part, QuotaEntity

USER, CLIENT_ID, ADDRESS = "user", "client-id", "ip"
ENTITY_TYPES = frozenset({USER, CLIENT_ID, ADDRESS})


class EntityPart(Protocol):
    entity_type: str
    entity_name: str | None


def parts_of(entity: QuotaEntity) -> dict[str, Part]:
    """The parts that the entity has, by their types."""
    both: dict[str, Part] = {USER: entity.user, CLIENT_ID: entity.client_id}
    return {kind: part for kind, part in both.items() if part is not None}


def wire_name(part: Part) -> str | None:
    return part if isinstance(part, str) else None


def entity_of(parts: Iterable[EntityPart]) -> QuotaEntity:
    """Raises InvalidQuota."""
    named: dict[str, Part] = {}
    for part in parts:
        if part.entity_type == ADDRESS:
            raise InvalidQuota(
                "quotas by address do not exist here: kafka.connections_per_address_max bounds the connections of each"
            )
        if part.entity_type not in ENTITY_TYPES or part.entity_type in named:
            raise InvalidQuota(f"'{part.entity_type}' is no entity type, or is named twice: user, client-id")
        named[part.entity_type] = DEFAULT if part.entity_name is None else part.entity_name
    return QuotaEntity(user=named.get(USER), client_id=named.get(CLIENT_ID))

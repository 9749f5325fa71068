"""Quotas: how much a user or a client may produce, fetch, and ask of a broker, each second.

Kafka's entities: a quota belongs to a user, to a client id, or to both; either may be named, or stand for all that have
no quota of their own (DEFAULT).
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from lakestream.model.errors import Exhausted, Invalid


class QuotaKind(Enum):
    """The value is Kafka's name of the quota."""

    PRODUCED_BYTES = "producer_byte_rate"
    FETCHED_BYTES = "consumer_byte_rate"
    REQUEST_TIME = "request_percentage"


class Default(Enum):
    """Stands for all names that have no quota of their own."""

    DEFAULT = "default"


DEFAULT = Default.DEFAULT
Part: TypeAlias = str | Default | None
"""None: the quota does not depend on it."""

QUOTAS_MAX = 100_000
"""Brokers hold all of them in memory."""
NAME_LENGTH_MAX = 1_000


class InvalidQuota(Invalid):
    """The quota has another name or value than there are."""


class TooManyQuotas(Exhausted):
    """There are as many quotas as brokers will hold. Use defaults in place of single names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaEntity:
    user: Part = None
    client_id: Part = None


class Quota(NamedTuple):
    entity: QuotaEntity
    kind: QuotaKind
    per_second: float
    """Bytes; for REQUEST_TIME percent of one core of the broker."""


class QuotaChange(NamedTuple):
    entity: QuotaEntity
    kind: QuotaKind
    per_second: float | None
    """None: the entity loses its quota of this kind."""


def check_change(change: QuotaChange) -> None:
    """Raises InvalidQuota."""
    if change.entity == QuotaEntity():
        raise InvalidQuota("a quota belongs to a user, to a client id, or to both")
    for part in (change.entity.user, change.entity.client_id):
        if isinstance(part, str) and len(part) > NAME_LENGTH_MAX:
            raise InvalidQuota(f"names of users and clients have at most {NAME_LENGTH_MAX} characters here")
    if change.per_second is not None and not 0 < change.per_second < float("inf"):
        raise InvalidQuota(f"{change.kind.value} is a number above 0; remove the quota to lift it")

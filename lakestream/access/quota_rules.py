"""Which quota applies to a user's client, by Kafka's order: the more it names, the earlier it counts.

    user and client > user and any client > user > any user and client > any user and any client > any user
    > client > any client

A quota that has a client id in it is counted for each user's client, one of users for all clients of a user together.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lakestream.model.quota import DEFAULT, Quota, QuotaEntity, QuotaKind


class Applied(NamedTuple):
    per_second: float
    account: QuotaEntity
    """Whose spending is counted together."""


class QuotaRules:
    def __init__(self, quotas: Iterable[Quota]) -> None:
        self._limits = {(quota.kind, quota.entity): quota.per_second for quota in quotas}

    def __bool__(self) -> bool:
        return bool(self._limits)

    def applied(self, kind: QuotaKind, user: str, client_id: str) -> Applied | None:
        """None: no quota applies."""
        for entity in _by_precedence(user, client_id):
            if (per_second := self._limits.get((kind, entity))) is not None:
                own_user = None if entity.user is None else user
                own_client = None if entity.client_id is None else client_id
                return Applied(per_second, QuotaEntity(user=own_user, client_id=own_client))
        return None


def _by_precedence(user: str, client_id: str) -> Iterable[QuotaEntity]:
    for named in (user, DEFAULT):
        for client in (client_id, DEFAULT, None):
            yield QuotaEntity(user=named, client_id=client)
    for client in (client_id, DEFAULT):
        yield QuotaEntity(client_id=client)

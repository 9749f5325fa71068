"""Rows of quotas. An entity's parts are stored as text: a name behind '=', '*' for the default, '' for neither."""

from lakestream.metadata.verbs.steps import Row, Steps, changed
from lakestream.model.quota import DEFAULT, Part, Quota, QuotaChange, QuotaEntity, QuotaKind

_DEFAULT, _ABSENT, _NAMED = "*", "", "="


def quota_of(row: Row) -> Quota:
    user, client_id, kind, per_second = row
    return Quota(QuotaEntity(user=_part(user), client_id=_part(client_id)), QuotaKind(kind), float(per_second))


def apply_change(change: QuotaChange) -> Steps[None]:
    key = {
        "user": _text(change.entity.user),
        "client": _text(change.entity.client_id),
        "kind": change.kind.value,
    }
    yield from changed("DELETE FROM quota WHERE user_name = :user AND client_id = :client AND kind = :kind", **key)
    if change.per_second is not None:
        yield from changed(
            "INSERT INTO quota VALUES (:user, :client, :kind, :per_second)", per_second=change.per_second, **key
        )


def _part(text: str) -> Part:
    if text == _ABSENT:
        return None
    return DEFAULT if text == _DEFAULT else text.removeprefix(_NAMED)


def _text(part: Part) -> str:
    if part is None:
        return _ABSENT
    return _DEFAULT if part is DEFAULT else f"{_NAMED}{part}"

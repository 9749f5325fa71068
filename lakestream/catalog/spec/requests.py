"""Requests about tables and views, and their parts besides the change itself: names, receipts, idempotency."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from lakestream.catalog.spec.values import Json
from lakestream.model.table import Namespace, RequestReceipt
from lakestream.model.table_errors import InvalidTableChange

NAME_BYTES_MAX = 255
LEVELS_MAX = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange:
    """Updates to one table, and their requirements."""

    namespace: Namespace
    name: str
    requirements: list[Json]
    updates: list[Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The client asks that a request be carried out once, however often it arrives."""

    key: str
    request: str
    """A digest of the request."""


def receipt_of(once: Once | None, answer: Json) -> RequestReceipt | None:
    """The record to store with the effect of a request, so that its repeat gets the same answer."""
    return None if once is None else RequestReceipt(key=once.key, request=once.request, answer=json.dumps(answer))


def located(locations: Sequence[str], namespace: Namespace, name: str) -> Json:
    """The receipt's record of the metadata files that a request made. The first is that of the named table."""
    return {"metadata-locations": list(locations), "name": [*namespace, name]}


def checked_name(name: object) -> str:
    """Raises InvalidTableChange if this cannot be the name of a table, a view or a namespace's level."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "/" in name:
        raise InvalidTableChange(f"{name!r} cannot be a name: use printable characters, not only spaces, and no '/'")
    if len(name.encode()) > NAME_BYTES_MAX:
        raise InvalidTableChange(f"the name has more than {NAME_BYTES_MAX} bytes: choose a shorter one")
    return name


def checked_namespace(levels: object) -> Namespace:
    if not isinstance(levels, list | tuple) or not 0 < len(levels) <= LEVELS_MAX:
        raise InvalidTableChange(f"a namespace is a list of 1 to {LEVELS_MAX} names, not {levels!r}")
    return tuple(checked_name(level) for level in levels)

"""Which columns a partition or sort field can use: the specification's table of transforms.

Iceberg's own library checks this when it loads a table, so a field of a wrong column would lock it out. Unknown
transforms pass, as they do there.
"""

import re
from typing import Any

from lakestream.catalog.spec.values import INT_MAX, shown
from lakestream.model.table_errors import InvalidTableChange

VOID = "void"
_WITH_WIDTH = re.compile(r"(bucket|truncate)\[(\d{1,12})\]")
_TIMESTAMPS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_NOT_ORDERED = frozenset({"variant", "geometry", "geography", "unknown"})
_SOURCES = {
    "bucket": frozenset({"int", "long", "decimal", "date", "time", "string", "uuid", "fixed", "binary", *_TIMESTAMPS}),
    "truncate": frozenset({"int", "long", "decimal", "string", "binary"}),
    "year": frozenset({"date", *_TIMESTAMPS}),
    "month": frozenset({"date", *_TIMESTAMPS}),
    "day": frozenset({"date", *_TIMESTAMPS}),
    "hour": _TIMESTAMPS,
}


def check_transform(transform: str, type: Any) -> None:
    """Raises InvalidTableChange if `transform` has no result for values of `type`."""
    if transform == VOID:
        return
    name = _name(transform)
    # decimal(9,2) -> decimal
    kind = re.split(r"[\[(]", type, maxsplit=1)[0] if isinstance(type, str) else None
    known = _SOURCES.get(name)
    if kind is None or kind in _NOT_ORDERED or (known is not None and kind not in known):
        raise InvalidTableChange(f"{shown(transform)} cannot be made from a column of type {shown(type)}")


def check_sort_transform(transform: str, type: Any) -> None:
    """The same for a sort field, which needs a single value even if the transform discards it."""
    if not isinstance(type, str) or type == "variant":
        raise InvalidTableChange(f"nothing is sorted by a column of type {shown(type)}: choose another one")
    check_transform(transform, type)


def _name(transform: str) -> str:
    if (found := _WITH_WIDTH.fullmatch(transform)) is None:
        return transform
    if not 1 <= int(found[2]) <= INT_MAX:
        raise InvalidTableChange(f"the width in {shown(transform)} must be between 1 and {INT_MAX}")
    return found[1]

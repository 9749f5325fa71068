"""Checks default values of columns, which the specification writes as single values in JSON.

    long 7    double 7.5    date "2007-12-03"    timestamptz "2007-12-03T10:15:30+00:00"    binary "0a0b"

Iceberg's own library reads them whenever it loads the table, so an unreadable one locks it out of the table.
"""

import re
from datetime import date
from typing import Any

from lakestream.catalog.spec.values import INT_MAX, shown
from lakestream.model.table_errors import InvalidTableChange

DEFAULTS = ("initial-default", "write-default")

_DATE = r"(\d{4}-\d\d-\d\d)"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?"
_ZONE = r"(\+00:00|Z)"
_TEXTS = {
    "string": re.compile(r"(?s).*"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "date": re.compile(_DATE, re.ASCII),
    "time": re.compile(_TIME, re.ASCII),
    "timestamp": re.compile(f"{_DATE}T{_TIME}", re.ASCII),
    "timestamptz": re.compile(f"{_DATE}T{_TIME}{_ZONE}", re.ASCII),
    "timestamp_ns": re.compile(f"{_DATE}T{_TIME}", re.ASCII),
    "timestamptz_ns": re.compile(f"{_DATE}T{_TIME}{_ZONE}", re.ASCII),
    "decimal": re.compile(r"-?\d+(\.\d+)?", re.ASCII),
    "fixed": re.compile(r"([0-9a-fA-F]{2})*"),
    "binary": re.compile(r"([0-9a-fA-F]{2})*"),
}
_DATED = ("date", "timestamp")
_NANOSECONDS_FIRST, _NANOSECONDS_LAST = "1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"
"""The range of 64 bits. Times in the same format sort as their texts do."""


def check_default(value: Any, type: Any) -> None:
    """Raises InvalidTableChange if `value` is not of `type`. Defaults of structs, lists and maps are never read."""
    if not isinstance(type, str) or not _is_of(value, type):
        raise InvalidTableChange(
            f"{shown(value)} cannot be a default of type {shown(type)}: leave it out, or send one that is"
        )


def _is_of(value: Any, type: str) -> bool:
    match type:
        case "boolean":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and -INT_MAX - 1 <= value <= INT_MAX
        case "long":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float" | "double":
            return isinstance(value, float)
        case _:
            return isinstance(value, str) and _is_text_of(value, type)


def _is_text_of(text: str, type: str) -> bool:
    kind = re.split(r"[\[(]", type, maxsplit=1)[0]
    if kind not in _TEXTS or (found := _TEXTS[kind].fullmatch(text)) is None:
        return False
    if kind.startswith(_DATED):
        return _is_day(found[1]) and (not kind.endswith("_ns") or _has_nanoseconds(text))
    if kind == "decimal":
        return _has_digits_of(text, type)
    return kind != "fixed" or f"fixed[{len(text) // 2}]" == type


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _has_nanoseconds(text: str) -> bool:
    """Whether 64 bits hold its nanoseconds since 1970."""
    time, _, fraction = re.sub(f"{_ZONE}$", "", text).partition(".")
    return _NANOSECONDS_FIRST <= f"{time}.{fraction:0<9}" <= _NANOSECONDS_LAST


def _has_digits_of(text: str, type: str) -> bool:
    """14.20 is a decimal(9, 2), 14.2 is not."""
    precision, scale = map(int, re.findall("[0-9]+", type))
    whole, _, fraction = text.lstrip("-").partition(".")
    return len(fraction) == scale and len((whole + fraction).lstrip("0")) <= precision

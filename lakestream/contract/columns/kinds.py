"""Kinds of columns: Iceberg's primitives by their names, and the three that have children.

A column may be read as a wider kind than it was written: Iceberg promotes int to long, float to double and a decimal to
one of more digits. `wider` implements that rule, in both directions.
"""

import re

STRUCT, LIST, MAP = "struct", "list", "map"
NESTED = frozenset((STRUCT, LIST, MAP))

BOOLEAN, INT, LONG, FLOAT, DOUBLE = "boolean", "int", "long", "float", "double"
DATE, TIME, TIMESTAMP, TIMESTAMPTZ = "date", "time", "timestamp", "timestamptz"
STRING, UUID, BINARY = "string", "uuid", "binary"
"""There are also decimal(p,s) and fixed[n]."""

DECIMAL_DIGITS_MAX = 38

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_FIXED = re.compile(r"fixed\[(\d+)\]")
_WIDER = {(INT, LONG): LONG, (FLOAT, DOUBLE): DOUBLE}


def decimal(digits: int, scale: int) -> str:
    return f"decimal({digits},{scale})"


def fixed(size: int) -> str:
    return f"fixed[{size}]"


def decimal_digits(kind: str) -> tuple[int, int] | None:
    """(digits, scale) of a decimal; None for every other kind."""
    found = _DECIMAL.fullmatch(kind)
    return (int(found[1]), int(found[2])) if found else None


def fixed_size(kind: str) -> int | None:
    found = _FIXED.fullmatch(kind)
    return int(found[1]) if found else None


def wider(one: str, other: str) -> str | None:
    """The kind that holds both, or None if no column can."""
    if one == other:
        return one
    found = _WIDER.get((one, other)) or _WIDER.get((other, one))
    if found is not None:
        return found
    own, others = decimal_digits(one), decimal_digits(other)
    if own and others and own[1] == others[1]:
        return decimal(max(own[0], others[0]), own[1])
    return None

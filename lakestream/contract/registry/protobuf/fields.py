"""Facts about fields: scalar types, numbers, and the names that descriptors derive from a field's name."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

NUMBER_MAX = 2**29 - 1
RESERVED_NUMBERS = range(19_000, 20_000)
"""Protobuf reserves these for itself."""

SCALARS: dict[str, Any] = {
    name: getattr(d.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in (
        "double",
        "float",
        "int64",
        "uint64",
        "int32",
        "fixed64",
        "fixed32",
        "bool",
        "string",
        "bytes",
        "uint32",
        "sfixed32",
        "sfixed64",
        "sint32",
        "sint64",
    )
}
SCALAR_NAMES = {type: name for name, type in SCALARS.items()}


class Ranges:
    """Ranges of reserved numbers, with fast search. `end` is the first number behind a range."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._starts, number)
        return at > 0 and number < self._ends[at - 1]


def camel(name: str) -> str:
    """The JSON name of a field without an explicit one: 'order_id' -> 'orderId'."""
    found, upper = "", False
    for character in name:
        if character == "_":
            upper = True
        else:
            found += character.upper() if upper else character
            upper = False
    return found


def entry_name(field: str) -> str:
    """The name of the nested message for a map's entries: 'by_id' -> 'ByIdEntry'."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"

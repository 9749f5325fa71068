"""Tables, views and changes are JSON values, kept as they came: unknown fields survive.

Values are immutable: a change copies the part it touches, so values can be shared and kept. `wanted` reads a required
part of a client's value. A missing or mistyped field is reported as an error; callers never see it.
"""

from typing import Any, TypeVar

from lakestream.model.table_errors import InvalidTableChange

Json = dict[str, Any]
"""One JSON object."""

Metadata = dict[str, Any]
"""The content of one metadata file, of a table or of a view."""

INT_MAX = 2**31 - 1
"""Java's readers have 32 bits for ids of schemas, specs, orders and fields, and 64 for snapshots, times and sizes."""

T = TypeVar("T")


def wanted(value: Any, name: str, kind: type[T]) -> T:
    """`value[name]`. Raises InvalidTableChange unless it exists and is a `kind`."""
    if not isinstance(value, dict):
        raise InvalidTableChange(f"a JSON object with '{name}' was expected, not {shown(value)}")
    if name not in value:
        raise InvalidTableChange(f"'{name}' is missing in {shown(value)}")
    found = value[name]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise InvalidTableChange(f"'{name}' must be {_KINDS.get(kind, kind.__name__)}, not {shown(found)}")
    return found


def wanted_objects(value: Any, name: str) -> list[Json]:
    """`value[name]`, a list of objects."""
    found = wanted(value, name, list)
    if not all(isinstance(one, dict) for one in found):
        raise InvalidTableChange(f"'{name}' must be a list of JSON objects")
    return found


def listed(value: Json, name: str) -> list[Json]:
    """`value[name]`, a list of objects; empty if missing or null."""
    return wanted_objects(value, name) if value.get(name) is not None else []


def wanted_texts(value: Any, name: str) -> dict[str, str]:
    """`value[name]`, an object whose values are all text: properties."""
    found = wanted(value, name, dict)
    if not all(isinstance(one, str) for one in found.values()):
        raise InvalidTableChange(f"every value in '{name}' must be text")
    return found


def wanted_strings(value: Any, name: str) -> list[str]:
    """`value[name]`, a list of texts."""
    found = wanted(value, name, list)
    if not all(isinstance(one, str) for one in found):
        raise InvalidTableChange(f"'{name}' must be a list of texts")
    return found


def wanted_ids(value: Any, name: str) -> list[int]:
    """`value[name]`, a list of whole numbers."""
    found = wanted(value, name, list)
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in found):
        raise InvalidTableChange(f"'{name}' must be a list of whole numbers")
    return found


def wanted_int(value: Any, name: str) -> int:
    """`value[name]`, an integer that fits into 32 bits."""
    found = wanted(value, name, int)
    if not -INT_MAX - 1 <= found <= INT_MAX:
        raise InvalidTableChange(f"'{name}' must be a number that 32 bits hold, not {found}")
    return found


def wanted_count(value: Any, name: str) -> int:
    """`value[name]`, an integer that is not negative."""
    if (found := wanted(value, name, int)) < 0:
        raise InvalidTableChange(f"'{name}' must not be below 0, and is {found}")
    return found


def optional(value: Json, name: str, kind: type[T]) -> T | None:
    """`value[name]`, or None if missing or null. Raises InvalidTableChange if it is not a `kind`."""
    return wanted(value, name, kind) if value.get(name) is not None else None


def whole_number(text: str) -> int | None:
    """The integer in a property or a parameter; None if it is not one, or too long."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS_MAX else None


def distinct_ids(value: Json, list_name: str, id_name: str) -> set[int]:
    """The ids of the objects in a list. Raises InvalidTableChange if one is missing or used twice."""
    ids = [wanted(one, id_name, int) for one in listed(value, list_name)]
    if len(set(ids)) != len(ids):
        raise InvalidTableChange(f"two of '{list_name}' have the same '{id_name}': give each its own")
    return set(ids)


def by_id(values: list[Json], id_name: str, id: int) -> Json | None:
    # From the end: the newest come last and are wanted most often, and a table has hundreds of snapshots.
    return next((value for value in reversed(values) if value.get(id_name) == id), None)


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number", bool: "true or false"}
_SHOWN_CHARACTERS_MAX = 120
_DIGITS_MAX = 18
"""As many as a 64-bit number always holds."""


def shown(value: Any) -> str:
    """The value shortened for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."

"""Tables, views and changes are JSON values, kept as they came: fields that nobody here knows survive.

Nothing in a value is ever changed in place: a change copies the part it touches, so values can be shared and kept.
`wanted` is how a required part of someone's value is read: what is missing or of the wrong kind is said, not met.
"""

from typing import Any, TypeVar

from lakestream.model.table_errors import InvalidTableChange

Json = dict[str, Any]
"""One JSON object."""

Metadata = dict[str, Any]
"""The content of one metadata file, of a table or of a view."""

T = TypeVar("T")


def wanted(value: Any, name: str, kind: type[T]) -> T:
    """`value[name]`. Raises InvalidTableChange unless it is there and a `kind`."""
    if not isinstance(value, dict):
        raise InvalidTableChange(f"a JSON object with '{name}' was expected, not {_shown(value)}")
    if name not in value:
        raise InvalidTableChange(f"'{name}' is missing in {_shown(value)}")
    found = value[name]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise InvalidTableChange(f"'{name}' must be {_KINDS.get(kind, kind.__name__)}, not {_shown(found)}")
    return found


def wanted_objects(value: Any, name: str) -> list[Json]:
    """`value[name]`, a list of objects."""
    found = wanted(value, name, list)
    if not all(isinstance(one, dict) for one in found):
        raise InvalidTableChange(f"'{name}' must be a list of JSON objects")
    return found


def wanted_texts(value: Any, name: str) -> dict[str, str]:
    """`value[name]`, an object whose values are all text: properties."""
    found = wanted(value, name, dict)
    if not all(isinstance(one, str) for one in found.values()):
        raise InvalidTableChange(f"every value in '{name}' must be text")
    return found


def by_id(values: list[Json], id_name: str, id: int) -> Json | None:
    # From the end: the newest come last and are mostly what is asked for, and a table has hundreds of snapshots.
    return next((value for value in reversed(values) if value.get(id_name) == id), None)


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number", bool: "true or false"}
_SHOWN_CHARACTERS_MAX = 120


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."

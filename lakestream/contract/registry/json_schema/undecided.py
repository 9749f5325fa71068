"""Keywords that are not compared in their parts: the reader's must equal the writer's literally, or be absent.

Leaving one out allows more, which never hurts. A reference inside may have another target in the other schema, so equal
text proves nothing there.
"""

from collections.abc import Mapping
from typing import Any

from lakestream.contract.registry.comparing import Differences, Incompatibility
from lakestream.contract.registry.json_schema.keywords import COMBINING
from lakestream.contract.registry.json_text import written_json

Keywords = Mapping[str, Any]

_OPAQUE = (
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "dependentSchemas",
    "$dynamicRef",
    "$recursiveRef",
)
_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")


def opaque_breaks(written: Keywords, read: Keywords, path: str) -> Differences:
    return [
        Incompatibility(
            "UNDECIDED", f"{path}/{key}", f"whether '{key}' reads all that was written is not decided here: keep it"
        )
        for key in _OPAQUE
        if key in read and not _same({key: read[key]}, {key: written.get(key)})
    ]


def mixed_breaks(written: Keywords, read: Keywords, path: str) -> Differences:
    """`unevaluatedProperties` next to combinations depends on the properties that each of them evaluates."""
    if "unevaluatedProperties" not in read or not any(key in read for key in COMBINING) or _same(written, read):
        return []
    why = "'unevaluatedProperties' beside allOf, anyOf, oneOf or $ref is not compared: keep this schema as it is"
    return [Incompatibility("UNDECIDED", f"{path}/unevaluatedProperties", why)]


def _same(one: Any, other: Any) -> bool:
    text = written_json(one, sort_keys=True)
    return text == written_json(other, sort_keys=True) and not any(f'"{key}":' in text for key in _REFERRING)

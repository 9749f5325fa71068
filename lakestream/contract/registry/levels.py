"""Compatibility levels: which versions a new one is compared with, and who must be able to read whose data."""

from collections.abc import Sequence
from typing import Any

from lakestream.contract.registry.comparing import Comparison, Differences
from lakestream.contract.registry.submitted import FORMATS
from lakestream.model.registry import Compatibility, SchemaFormat, VersionEntry

_BACKWARD = {
    Compatibility.BACKWARD,
    Compatibility.BACKWARD_TRANSITIVE,
    Compatibility.FULL,
    Compatibility.FULL_TRANSITIVE,
}
_FORWARD = {Compatibility.FORWARD, Compatibility.FORWARD_TRANSITIVE, Compatibility.FULL, Compatibility.FULL_TRANSITIVE}
_TRANSITIVE = {
    Compatibility.BACKWARD_TRANSITIVE,
    Compatibility.FORWARD_TRANSITIVE,
    Compatibility.FULL_TRANSITIVE,
}


def held_against(level: Compatibility, live: Sequence[VersionEntry]) -> list[VersionEntry]:
    """The versions to compare with, newest first: it is the most likely to be broken."""
    if level is Compatibility.NONE:
        return []
    return list(reversed(live)) if level in _TRANSITIVE else list(live[-1:])


def reasons_against(
    level: Compatibility, format: SchemaFormat, old: Any, new: Any, version: int, comparison: Comparison
) -> list[str]:
    """Blocking. Why the new schema breaks the old one at this level; empty if it does not."""
    rules, found = FORMATS[format], list[str]()
    if level in _BACKWARD:
        broken = rules.breaks(writer=old, reader=new, comparison=comparison)
        found += _told(broken, f"data of version {version} cannot be read with the new schema")
    if level in _FORWARD:
        broken = rules.breaks(writer=new, reader=old, comparison=comparison)
        found += _told(broken, f"data of the new schema cannot be read with version {version}")
    if level is not Compatibility.NONE:
        found += _told(rules.retracts(old=old, new=new), f"version {version} does not allow it")
    return list(dict.fromkeys(found))


def _told(differences: Differences, consequence: str) -> list[str]:
    return [f"{difference} ({consequence})" for difference in differences]

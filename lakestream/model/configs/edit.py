"""Edits of a topic's configs as data, and the one function that applies them.

Kafka's IncrementalAlterConfigs asks for read-modify-write. The store applies the edit inside its own transaction, so
two administrators cannot lose each other's changes.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple


class ConfigOperation(IntEnum):
    """The numbers of IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigEdit(NamedTuple):
    operation: ConfigOperation
    name: str
    value: str | None


def apply_config_edits(config: Mapping[str, str], edits: Sequence[ConfigEdit]) -> dict[str, str]:
    """`config` after `edits`, in order. List operations work on comma-separated values."""
    edited = dict(config)
    for operation, name, value in edits:
        if operation is ConfigOperation.DELETE or value is None:
            edited.pop(name, None)
        elif operation is ConfigOperation.SET:
            edited[name] = value
        else:
            edited[name] = _edit_list(edited.get(name, ""), operation, value)
    return edited


def _edit_list(current: str, operation: ConfigOperation, value: str) -> str:
    items = [item for item in current.split(",") if item]
    changes = [item for item in value.split(",") if item]
    if operation is ConfigOperation.APPEND:
        return ",".join([*items, *(item for item in changes if item not in items)])
    return ",".join(item for item in items if item not in changes)

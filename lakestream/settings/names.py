"""The names of all settings, from the model: `wal.linger_ms`, and as a variable LAKESTREAM_WAL_LINGER_MS."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from lakestream.settings.model import Settings

ENVIRONMENT_PREFIX = "LAKESTREAM_"


class SettingName(NamedTuple):
    dotted: str
    meaning: str

    @property
    def variable(self) -> str:
        return ENVIRONMENT_PREFIX + self.dotted.upper().replace(".", "_")

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.dotted.split("."))


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[SettingName]:
    """All setting names, in the order of the model."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from setting_names(field.annotation, f"{prefix}{name}.")
        else:
            yield SettingName(prefix + name, field.description or "")


def nearest(name: str) -> str:
    """' Did you mean ...?' for a misspelt name, or other advice if no name is near."""
    known = [setting.dotted for setting in setting_names()]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    near = near or [each for each in known if each.rpartition(".")[2] == name.rpartition(".")[2]][:1]
    return f"did you mean '{near[0]}'?" if near else "`lakestream settings` lists those that exist"


def value_at(tree: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The value in a nested table at `path`, or None."""
    for part in path:
        if not isinstance(tree, Mapping) or part not in tree:
            return None
        tree = tree[part]
    return tree

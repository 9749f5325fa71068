"""Loads settings: flags win over LAKESTREAM_* variables, then lakestream.toml, then defaults.

    loaded = load_settings(flags={"data": "/srv/ls"}, environment=os.environ, file=None)
    loaded.settings.wal.linger_ms          the value
    loaded.source_of("wal.linger_ms")      'lakestream.toml'

A name that does not exist is refused with the nearest one that does. Variables that begin like ours and belong to
others are let be: those that Kubernetes makes for a service called `lakestream`, and those of our own tests.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lakestream.model.errors import InvalidSetting
from lakestream.settings.model import Settings
from lakestream.settings.names import ENVIRONMENT_PREFIX, SettingName, nearest, setting_names, value_at
from lakestream.settings.refusals import refusal

FILE_NAME = "lakestream.toml"
FILE_VARIABLE = "LAKESTREAM_CONFIG"
DEFAULT_SOURCE = "default"
_OF_TESTS = ("LAKESTREAM_SOAK", "LAKESTREAM_SOAK_MINUTES", "LAKESTREAM_DID_NOT_RUN", "LAKESTREAM_COMPAT_BOOTSTRAP")
"""Variables that only tests of this repository read."""
_OF_KUBERNETES = re.compile(r"_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_[A-Z]+(_PROTO|_PORT|_ADDR)?)?$")
"""Ends of the variables that Kubernetes gives to a container for each service."""
_MAY_HOLD_KEYS = ("objects_options", "spark.conf")
"""Errors do not repeat the values of these settings, since errors end up in logs."""
_OPEN_TABLES = ("objects_options", "spark.conf")
"""Settings that are tables themselves: the names inside them are not ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    settings: Settings
    sources: Mapping[str, str]
    """By dotted name, for those that are not the default's."""

    def source_of(self, dotted: str) -> str:
        return self.sources.get(dotted, DEFAULT_SOURCE)


def load_settings(
    *, flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None, folder: Path = Path()
) -> Loaded:
    """Read all sources. `flags` are by dotted name. Raises InvalidSetting."""
    _refuse_unknown_variables(environment)
    path = _file_to_read(file, environment, folder)
    layers = [
        *([(str(path), _from_file(path))] if path is not None else []),
        *((name.variable, {name.dotted: environment[name.variable]}) for name in _set_variables(environment)),
        ("flag", _checked_flags(flags)),
    ]
    values, sources = _layered(layers)
    settings = _validated(values, sources)
    return Loaded(settings=settings, sources=sources)


def _file_to_read(file: Path | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    named = file or (Path(environment[FILE_VARIABLE]) if environment.get(FILE_VARIABLE) else None)
    if named is not None and not named.is_file():
        raise InvalidSetting(f"there is no settings file {named}; write one, or leave --config out")
    return named or (folder / FILE_NAME if (folder / FILE_NAME).is_file() else None)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} is not valid TOML: {error}") from None
    return _known(_flat(table), where=str(path))


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{'wal': {'linger_ms': 5}} -> {'wal.linger_ms': 5}"""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        dotted = prefix + name
        if isinstance(value, dict) and dotted not in _OPEN_TABLES:
            flat |= _flat(value, f"{dotted}.")
        else:
            flat[dotted] = value
    return flat


def _checked_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    return _known({name: value for name, value in flags.items() if value is not None}, where="--set")


def _known(values: dict[str, Any], *, where: str) -> dict[str, Any]:
    names = {name.dotted for name in setting_names()}
    for dotted in values:
        if dotted not in names:
            raise InvalidSetting(f"{where}: there is no setting '{dotted}'; {nearest(dotted)}")
    return values


def _set_variables(environment: Mapping[str, str]) -> list[SettingName]:
    return [name for name in setting_names() if name.variable in environment]


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = [FILE_VARIABLE, *(name.variable for name in setting_names())]
    for variable in sorted(environment):
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in known or _is_of_others(variable):
            continue
        endings = [name.removeprefix(ENVIRONMENT_PREFIX) for name in known]
        near = get_close_matches(variable.removeprefix(ENVIRONMENT_PREFIX), endings, n=1)
        advice = (
            f"did you mean {ENVIRONMENT_PREFIX}{near[0]}?" if near else "`lakestream settings` lists those there are."
        )
        raise InvalidSetting(f"the variable {variable} is no setting: {advice} Unset it if it is not for Lakestream")


def _is_of_others(variable: str) -> bool:
    return variable in _OF_TESTS or _OF_KUBERNETES.search(variable) is not None


def _layered(layers: list[tuple[str, dict[str, Any]]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values as a nested table and the source of each; later layers win."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for source, layer in layers:
        for dotted, value in layer.items():
            *groups, leaf = dotted.split(".")
            table = values
            for group in groups:
                table = table.setdefault(group, {})
            table[leaf] = value
            sources[dotted] = source
    return values, sources


def _validated(values: dict[str, Any], sources: Mapping[str, str]) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        dotted = next((n.dotted for n in setting_names() if n.path == first["loc"][: len(n.path)]), "?")
        given = "what was given" if dotted in _MAY_HOLD_KEYS else repr(value_at(values, tuple(dotted.split("."))))
        raise InvalidSetting(
            f"setting '{dotted}' cannot be {given} (from {sources.get(dotted, DEFAULT_SOURCE)}): {refusal(dict(first))}"
        ) from None

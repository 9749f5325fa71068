"""Settings as text: rows for `lakestream settings`, and the reference page."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lakestream.settings.load import Loaded
from lakestream.settings.model import Settings
from lakestream.settings.names import setting_names, value_at

_SECRET_SIGNS = ("key", "secret", "token", "password")

_HEAD = """\
# Settings

Every setting can be given in four ways; the first that is given counts:

1. a flag: `--set wal.linger_ms=100` on any command, or one of its own where the command has it (`--data`, `--kafka`);
2. a variable: `LAKESTREAM_WAL_LINGER_MS=100`;
3. the file `lakestream.toml` in the current folder, or the one named by `--config` or `LAKESTREAM_CONFIG`:
   ```toml
   [wal]
   linger_ms = 100
   ```
4. the default below.

`lakestream settings` prints what is in force and where each value comes from. A name that does not exist is refused,
also that of a variable that begins with `LAKESTREAM_`. Variables that Kubernetes makes for a service called
`lakestream` are let be.

| setting | variable | default | meaning |
|---|---|---|---|
"""


class SettingRow(NamedTuple):
    name: str
    value: Any
    source: str
    meaning: str


def setting_rows(loaded: Loaded) -> list[SettingRow]:
    """The settings in force. Secrets are hidden."""
    values = loaded.settings.model_dump(mode="json")
    values["spark"]["conf"] = _without_secrets(loaded.settings.spark.conf)
    values |= {
        "metadata": _without_password(loaded.settings.metadata_url),
        "objects": loaded.settings.objects_url,
        "data": str(loaded.settings.data_folder),
        "objects_options": _without_secrets(loaded.settings.objects_options),
    }
    return [
        SettingRow(name.dotted, value_at(values, name.path), loaded.source_of(name.dotted), name.meaning)
        for name in setting_names()
    ]


def reference_page() -> str:
    """The whole page docs/reference/settings.md."""
    defaults = Settings().model_dump(mode="json")
    rows = [
        f"| `{name.dotted}` | `{name.variable}` | {_shown(value_at(defaults, name.path))} | {name.meaning} |\n"
        for name in setting_names()
    ]
    return _HEAD + "".join(rows)


def _shown(value: Any) -> str:
    return "" if value in (None, "", {}) else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _without_secrets(options: Mapping[str, str]) -> dict[str, str]:
    return {name: "***" if _is_secret(name) else value for name, value in options.items()}


def _is_secret(name: str) -> bool:
    return any(sign in name.lower() for sign in _SECRET_SIGNS)


def _without_password(url: str) -> str:
    """postgresql://user:***@host/db"""
    scheme, separator, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    if not at or ":" not in credentials:
        return url
    return f"{scheme}{separator}{credentials.partition(':')[0]}:***@{host}"

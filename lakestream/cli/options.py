"""Options that many commands share, and functions that load the settings from them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.failures import WrongUse
from lakestream.cli.service import Brokers, Gateway, brokers_by, gateway_by
from lakestream.settings.address import Address
from lakestream.settings.load import Loaded, load_settings
from lakestream.settings.model import Settings

Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file, instead of ./lakestream.toml.", show_default=False)
]
SetValues = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting, for this run. May be repeated.", show_default=False),
]
Kafka = Annotated[
    str | None,
    typer.Option(
        "--kafka", metavar="HOST:PORT", help="The Kafka service. Default: 127.0.0.1:9092.", show_default=False
    ),
]
Http = Annotated[
    str | None,
    typer.Option("--http", metavar="HOST:PORT", help="The HTTP service. Default: 127.0.0.1:8080.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllowInsecure = Annotated[
    bool | None,
    typer.Option("--allow-insecure", help="Allow listeners that other machines can reach.", show_default=False),
]
Supervised = Annotated[
    bool, typer.Option("--supervised", hidden=True, help="Report readiness on stdout; end when stdin closes.")
]


def loaded_settings(config: Path | None, values: list[str] | None, **flags: object) -> Loaded:
    """The settings in force. `flags` are by dotted name with '__' for the dot; None means that a flag was not given."""
    given = {name.replace("__", "."): value for name, value in flags.items() if value is not None}
    return load_settings(flags={**_pairs(values or []), **given}, environment=os.environ, file=config)


def brokers_at(config: Path | None, values: list[str] | None, kafka: str | None) -> Brokers:
    """How a client command reaches Kafka."""
    settings = loaded_settings(config, values, kafka__listeners=kafka).settings
    if kafka is None and settings.kafka.advertised is not None:
        return brokers_by(settings, settings.kafka.advertised)
    return brokers_by(settings, _reachable(settings.kafka.listeners[0]))


def gateway_at(config: Path | None, values: list[str] | None, http: str | None) -> Gateway:
    """How a client command reaches the gateway."""
    settings = loaded_settings(config, values, http__listen=http).settings
    return gateway_by(settings, _reachable(settings.http.listen))


def passed_on(config: Path | None, values: list[str] | None, settings: Settings, **changes: object) -> list[str]:
    """Arguments that give a child process the same settings, except for `changes` (by dotted name with '__').

    The child finds variables and the default file by itself. Settings from flags must be passed on."""
    named = ["--config", str(config.absolute())] if config is not None else []
    last = {"data": settings.data_folder, "allow_insecure": settings.allow_insecure}
    last |= {name.replace("__", "."): value for name, value in changes.items()}
    flags = [*(values or []), *(f"{name}={value}" for name, value in last.items())]
    return [*named, *(part for flag in flags for part in ("--set", flag))]


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE"""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise WrongUse(f"'{text}' is not NAME=VALUE")
    return name, value


def _pairs(values: list[str]) -> dict[str, str]:
    return dict(map(pair, values))


def _reachable(address: Address) -> Address:
    """A server that listens on every interface is reached on the loopback address."""
    return address._replace(host="127.0.0.1") if address.is_wildcard else address

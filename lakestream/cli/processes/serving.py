"""Starts a serving process from its command.

The serving code loads compiled codecs, and the pipeline's Spark, which takes a second or more. Only the process that
serves imports it, inside a function: no other command pays for it.
"""

from collections.abc import Callable

from lakestream.cli.processes.ports import refuse_taken
from lakestream.model.errors import InvalidSetting
from lakestream.settings.address import Address
from lakestream.settings.model import Settings
from lakestream.settings.serving import check_listeners


def serve_process(process: str, settings: Settings, *, supervised: bool, **known: object) -> None:
    """Run the named process until it is told to stop. `known` is what this process alone has to know."""
    check_listeners(settings)
    refuse_memory(settings)
    for listener, option in _listeners(process, settings):
        refuse_taken(listener, option=option)
    _entry(process)(settings, supervised=supervised, **known)


def _entry(process: str) -> Callable[..., None]:
    match process:
        case "broker":
            from lakestream.app.broker import serve_broker

            return serve_broker
        case "gateway":
            from lakestream.app.gateway import serve_gateway

            return serve_gateway
        case _:
            from lakestream.jobs import serve_pipeline

            return serve_pipeline


def _listeners(process: str, settings: Settings) -> list[tuple[Address, str]]:
    match process:
        case "broker":
            return [(listener, "--kafka") for listener in settings.kafka.listeners]
        case "gateway":
            return [(settings.http.listen, "--http")]
        case _:
            return []


def refuse_memory(settings: Settings) -> None:
    if settings.objects_url.startswith("memory:"):
        raise InvalidSetting(
            "objects memory:// lives inside one process and is gone when it ends, while the metadata stays; "
            "it is for tests. Use file:///absolute/path or a bucket"
        )

"""lakestream up: runs everything on this machine: brokers, gateway and pipeline as supervised processes."""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AllowInsecure, Config, SetValues, loaded_settings, passed_on
from lakestream.cli.output import say
from lakestream.cli.processes.data_lock import lock_data
from lakestream.cli.processes.java import missing_java
from lakestream.cli.processes.ports import chosen, free_after
from lakestream.cli.processes.securing import ADMIN, SecureFiles, files_of
from lakestream.cli.processes.securing import secure as make_secure
from lakestream.cli.processes.serving import refuse_memory
from lakestream.cli.processes.supervisor import Part, Supervisor
from lakestream.settings.address import Address
from lakestream.settings.model import Settings
from lakestream.settings.serving import check_listeners
from lakestream.world.clock import SystemClock

BROKERS_MAX = 64
NOT_WANTED = (
    "no pipeline is running: `lakestream up` was started with --no-pipeline. Start it again without, or start "
    "`lakestream pipeline` beside it, on a machine that has Java 17 or later"
)

Flags = Callable[..., list[str]]
"""Returns arguments that pass the settings on to a part, with changes."""


def up(
    data: Annotated[
        Path | None, typer.Option(help="Folder for everything kept. Default: ./lakestream-data.", show_default=False)
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Where Kafka clients connect. Default: 127.0.0.1:9092.", show_default=False
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where HTTP is served. Default: 127.0.0.1:8080.", show_default=False),
    ] = None,
    brokers: Annotated[
        int, typer.Option(min=1, max=BROKERS_MAX, help="How many brokers; further ones take the next free ports.")
    ] = 1,
    no_pipeline: Annotated[
        bool, typer.Option("--no-pipeline", help="Run the log alone: topics keep what they have, tables do not grow.")
    ] = False,
    secure: Annotated[
        bool,
        typer.Option(
            "--secure", help="TLS, logins and ACLs: makes certificates and an administrator, kept in the data."
        ),
    ] = False,
    allow_insecure: AllowInsecure = None,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Run Lakestream on this machine until it is told to stop."""
    load = partial(loaded_settings, data=data, kafka__listeners=kafka, http__listen=http, allow_insecure=allow_insecure)
    settings = load(config, values).settings
    if secure:
        made = files_of(settings).settings(settings)
        values = [*(values or []), *(f"{name}={value}" for name, value in made.items())]
        settings = load(config, values).settings
    check_listeners(settings)
    refuse_memory(settings)
    flags = partial(passed_on, config, values, settings)
    asyncio.run(_supervise(settings, brokers, flags, pipeline=not no_pipeline, is_secure=secure))


async def _supervise(settings: Settings, brokers: int, flags: Flags, *, pipeline: bool, is_secure: bool) -> None:
    clock = SystemClock()
    lock = await lock_data(settings.data_folder, clock)
    listeners = _listeners(settings, brokers)
    http = chosen(settings.http.listen, option="--http")
    no_pipeline = _no_pipeline(wanted=pipeline)
    known = [] if no_pipeline is None else ["--no-pipeline", no_pipeline]
    parts = [
        *(_broker_part(settings.broker.id + number, listen, flags) for number, listen in enumerate(listeners)),
        Part(name="gateway", command=_command("gateway", [*known, *flags(http__listen=http)])),
        *([_pipeline_part(flags)] if no_pipeline is None else ()),
    ]
    shown = ",".join(_shown(settings, listen) for listen in listeners)
    scheme = "http" if settings.http.certificate is None else "https"
    ready_line = f"lakestream ready  kafka={shown}  http={scheme}://{http}"
    if is_secure:
        files = files_of(settings)
        say(_how_to_log_in(files, await make_secure(files, settings, kafka=shown, http=str(http))))
    supervisor = Supervisor(
        parts, inherited=[lock], clock=clock, on_ready=lambda: print(ready_line, flush=True), say=say
    )
    await supervisor.run()


def _how_to_log_in(files: SecureFiles, client_settings: str) -> str:
    return (
        f"secure: commands log in by `--config {files['client.toml']}`, which says\n\n{client_settings}\n"
        f"other clients: user {ADMIN}, its password in {files['admin.password']}, authorities in {files['ca.pem']}; "
        "`lakestream connect ENGINE --user NAME` prints an engine's options, `lakestream user add` makes more users"
    )


def _listeners(settings: Settings, brokers: int) -> list[tuple[Address, ...]]:
    """The listeners of each broker. The first has those of the settings."""
    first = tuple(chosen(listener, option="--kafka") for listener in settings.kafka.listeners)
    if brokers == 1:
        return [first]
    if len(first) > 1 or settings.kafka.advertised is not None:
        raise CommandFailed(
            "several brokers with several listeners or an advertised address cannot share one setting; "
            "start each with `lakestream broker`"
        )
    ports = [first[0]]
    while len(ports) < brokers:
        ports.append(free_after(ports[-1], taken=frozenset(address.port for address in ports)))
    return [(address,) for address in ports]


def _broker_part(broker_id: int, listeners: tuple[Address, ...], flags: Flags) -> Part:
    own = flags(broker__id=broker_id, kafka__listeners=",".join(map(str, listeners)))
    return Part(name=f"broker {broker_id}", command=_command("broker", own))


def _no_pipeline(*, wanted: bool) -> str | None:
    """Why no pipeline is started; None where one is. Without Java the log runs all the same."""
    if not wanted:
        return NOT_WANTED
    if (problem := missing_java()) is None:
        return None
    say(f"note: topics have no tables here. {problem}")
    return f"no pipeline is running: {problem}"


def _pipeline_part(flags: Flags) -> Part:
    return Part(name="pipeline", command=_command("pipeline", flags()), background=True)


def _command(process: str, flags: list[str]) -> list[str]:
    return [sys.executable, "-m", "lakestream", process, "--supervised", *flags]


def _shown(settings: Settings, listeners: tuple[Address, ...]) -> str:
    return str(settings.kafka.advertised or listeners[0])

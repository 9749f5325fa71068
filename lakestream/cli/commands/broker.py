"""lakestream broker: one broker in this process, for a cluster."""

from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.options import AllowInsecure, Config, SetValues, Supervised, loaded_settings
from lakestream.cli.processes.serving import serve_process


def broker(
    data: Annotated[
        Path | None, typer.Option(help="Folder for what is kept on this machine.", show_default=False)
    ] = None,
    kafka: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where Kafka clients connect.", show_default=False)
    ] = None,
    number: Annotated[
        int | None, typer.Option("--id", help="This broker's id, unique in the cluster.", show_default=False)
    ] = None,
    allow_insecure: AllowInsecure = None,
    supervised: Supervised = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Run one broker until it is told to stop."""
    loaded = loaded_settings(
        config, values, data=data, kafka__listeners=kafka, broker__id=number, allow_insecure=allow_insecure
    )
    serve_process("broker", loaded.settings, supervised=supervised)

"""lakestream pipeline: moves records from the log into the tables, in this process, on Spark."""

from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AllowInsecure, Config, SetValues, Supervised, loaded_settings
from lakestream.cli.processes.java import missing_java
from lakestream.cli.processes.serving import serve_process


def pipeline(
    data: Annotated[
        Path | None, typer.Option(help="Folder for what is kept on this machine.", show_default=False)
    ] = None,
    allow_insecure: AllowInsecure = None,
    supervised: Supervised = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Keep the topics' tables up to date until told to stop. Several may run: one works, the others stand by."""
    loaded = loaded_settings(config, values, data=data, allow_insecure=allow_insecure)
    if (problem := missing_java()) is not None:
        raise CommandFailed(problem)
    serve_process("pipeline", loaded.settings, supervised=supervised)

"""lakestream gateway: HTTP for the cluster, in this process."""

from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.options import AllowInsecure, Config, Http, SetValues, Supervised, loaded_settings
from lakestream.cli.processes.serving import serve_process
from lakestream.settings.describe import setting_rows


def gateway(
    data: Annotated[
        Path | None, typer.Option(help="Folder for what is kept on this machine.", show_default=False)
    ] = None,
    http: Http = None,
    allow_insecure: AllowInsecure = None,
    no_pipeline: Annotated[
        str | None, typer.Option(hidden=True, help="Why no pipeline was started with this gateway.")
    ] = None,
    supervised: Supervised = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Serve HTTP (the console, the catalog, the registry, metrics, status) until told to stop."""
    loaded = loaded_settings(config, values, data=data, http__listen=http, allow_insecure=allow_insecure)
    shown = [row._asdict() for row in setting_rows(loaded)]
    serve_process("gateway", loaded.settings, supervised=supervised, no_pipeline=no_pipeline, shown_settings=shown)

"""lakestream table: work on the tables of topics. `rebuild` makes one again from the log."""

import asyncio
import sys
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.progress import Progress

from lakestream.administration.pipeline import PipelineState
from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at
from lakestream.cli.output import counted, in_units, print_json, say
from lakestream.cli.service import Gateway
from lakestream.world.clock import SystemClock

TABLES_PATH = "/admin/tables"
REBUILDS_PATH = "/admin/rebuilds"
app = typer.Typer(no_args_is_help=True, help="Work on the tables of topics.")


@app.callback()
def table() -> None:
    """Work on the tables of topics."""


@app.command()
def rebuild(
    topic: Annotated[str, typer.Argument(help="The topic.", show_default=False)],
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait before giving up.")] = 86_400.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Make what SQL sees of a topic again from its log, and swap it in when it is whole.

    Rows that engines have changed or deleted in the table are again as they were produced."""
    gateway = gateway_at(config, values, http)
    asked = ask_gateway(gateway, f"{TABLES_PATH}/{quote(topic, safe='')}/rebuild", {})["rebuild"]
    done = asyncio.run(_wait(gateway, topic, asked, PipelineWait(timeout, SystemClock())))
    if done["state"] == "failed":
        raise CommandFailed(f"{topic} could not be rebuilt: {done['reason']}")
    if as_json:
        print_json({"topic": topic} | {name: done[name] for name in ("rows", "files", "bytes")})
    else:
        say(
            f"{topic} has {counted(done['rows'], 'row')} in {counted(done['files'], 'file')}, {in_units(done['bytes'])}"
        )


async def _wait(gateway: Gateway, topic: str, id: str, waiting: PipelineWait) -> Any:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as shown:
        task = shown.add_task("rebuilding", total=None)
        while True:
            answer = ask_gateway(gateway, f"{REBUILDS_PATH}/{id}")
            if answer["state"] != "asked":
                return answer
            if answer["begun"]:
                shown.update(task, total=answer["bytes"], completed=answer["bytes"] - answer["bytes_left"])
            state = PipelineState(name=answer["pipeline"], ruled_out=answer["no_pipeline"])
            await waiting.go_on(state, f"{topic} is not rebuilt yet")

"""lakestream adopt: makes an existing table a topic, without copying it.

lakestream adopt sales.orders                       what engines append from now on is produced; rows stay rows
lakestream adopt sales.orders --from beginning      the rows that are there become records first
lakestream adopt sales.orders --dry-run             says what would happen
"""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from lakestream.catalog.names.adopting import AdoptedFrom
from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.commands.topic import Configs, DeclaredFormat
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at, pair
from lakestream.cli.output import counted, in_units, print_json, say
from lakestream.cli.service import Gateway
from lakestream.model.configs.value_configs import VALUE_FORMAT

PATH = "/admin/adopt"
ADOPTION_SECONDS_MAX = 1_800.0
"""The gateway looks into each file: a hundred thousand on a remote store take minutes."""


def adopt(
    table: Annotated[str, typer.Argument(metavar="NAMESPACE.TABLE", help="The table, of the built-in catalog.")],
    rows: Annotated[
        AdoptedFrom, typer.Option("--from", help="Whether rows that are there become records, or only later ones.")
    ] = AdoptedFrom.NOW,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="How many partitions.", show_default="the broker's")
    ] = None,
    format: Annotated[
        DeclaredFormat | None, typer.Option(help="The format of values.", show_default=DeclaredFormat.JSON.value)
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the records' keys.", show_default=False)
    ] = None,
    configs: Configs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Make an existing table a topic, without copying it."""
    given = dict(map(pair, configs or []))
    if format is not None:
        if given.get(VALUE_FORMAT, format) != format:
            raise WrongUse(f"--format says {format} and --topic-config says {given[VALUE_FORMAT]}: choose one")
        given[VALUE_FORMAT] = format.value
    body = {"table": table, "from": rows.value, "partitions": partitions, "key": key, "config": given}
    gateway = gateway_at(config, values, http)
    found = ask_gateway(gateway, PATH, {**body, "dry_run": True}, seconds_max=ADOPTION_SECONDS_MAX)
    done = found if dry_run else _adopted(gateway, body, found)
    if as_json:
        print_json(done)
        return
    print(f"table {table} {'would be' if dry_run else 'is'} topic {done['topic']}")
    for sentence in done["consequences"]:
        say(sentence)


def _adopted(gateway: Gateway, body: Any, found: Any) -> Any:
    """Shows what is under way: the one long step is the gateway's look into each file."""
    shown = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    with Progress(*shown, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        files = f"looking into {counted(found['files'], 'file')} of {in_units(found['bytes'])}"
        progress.add_task(files if found["files"] else "adopting", total=None)
        return ask_gateway(gateway, PATH, body, seconds_max=ADOPTION_SECONDS_MAX)

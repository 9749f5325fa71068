"""lakestream transaction: list, abort. Through the gateway's /admin/transactions."""

from typing import Annotated
from urllib.parse import quote

import typer

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at
from lakestream.cli.output import counted, print_json, print_table, say

PATH = "/admin/transactions"

app = typer.Typer(no_args_is_help=True, help="List open transactions, and abort one that is stuck.")


@app.command("list")
def list_(
    min_age: Annotated[float, typer.Option(min=0, help="Only those that are open for so many seconds.")] = 0.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """List open transactions, the oldest first."""
    found = ask_gateway(gateway_at(config, values, http), f"{PATH}?min_age_ms={int(1000 * min_age)}")["transactions"]
    if as_json:
        print_json(found)
        return
    print_table(
        ["transactional id", ">producer", ">open seconds", ">timeout seconds", "topics"],
        [
            (
                one["transactional_id"],
                one["producer_id"],
                f"{one['age_ms'] / 1000:.1f}",
                f"{one['timeout_ms'] / 1000:.1f}",
                ", ".join(one["topics"]),
            )
            for one in found
        ],
    )


@app.command()
def abort(
    id: Annotated[str, typer.Argument(metavar="ID", help="The transactional id.")],
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Abort the open transaction of a transactional id. Its producer is fenced, and has to begin again."""
    done = ask_gateway(gateway_at(config, values, http), f"{PATH}/{quote(id, safe='')}/abort", {})
    if as_json:
        print_json(done)
    else:
        say(f"aborted the transaction of {id}: it had records in {counted(done['partitions'], 'partition')}")

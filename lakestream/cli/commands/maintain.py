"""lakestream maintain: merge the small files of tables now, as far as they can be, and tell what was done.

The pipeline merges files by itself, when it is worth it and within its share of the time. This does not wait for that.
"""

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
from lakestream.cli.output import counted, in_units, print_json, print_table, say
from lakestream.cli.service import Gateway
from lakestream.world.clock import SystemClock

PATH = "/admin/maintenance"
MERGES_PATH = "/admin/merges"


def maintain(
    topics: Annotated[list[str] | None, typer.Argument(help="The topics. Default: all.", show_default=False)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait before giving up.")] = 3_600.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Merge small files of tables into larger ones."""
    address = gateway_at(config, values, http)
    tables = _tables(address, topics)
    if dry_run:
        _show_plan(tables, as_json=as_json)
        return
    work = [table for table in tables if table["mergeable_files"]]
    done = asyncio.run(_merge(address, work, PipelineWait(timeout, SystemClock()))) if work else []
    if as_json:
        print_json({"tables": done})
    elif not done:
        say("nothing to merge")
    else:
        print_table(
            ["topic", ">files", ">became", ">bytes", "problem"],
            [(one["topic"], one["files"], one["into"], in_units(one["bytes"]), one["reason"]) for one in done],
        )
    _say_advice(tables, as_json=as_json)
    if any(one["reason"] for one in done):
        raise CommandFailed("not every table could be merged")


def _tables(address: Gateway, topics: list[str] | None) -> list[Any]:
    if not topics:
        return list(ask_gateway(address, PATH)["tables"])
    return [table for topic in topics for table in ask_gateway(address, f"{PATH}/{quote(topic, safe='')}")["tables"]]


def _show_plan(tables: list[Any], *, as_json: bool) -> None:
    if as_json:
        print_json({"tables": tables})
        return
    print_table(
        ["topic", ">files", ">bytes", ">small", ">to merge", ">would become", ">bytes to merge"],
        [
            (
                table["topic"],
                table["files"],
                in_units(table["bytes"]),
                table["small_files"],
                table["mergeable_files"],
                table["merged_files"],
                in_units(table["mergeable_bytes"]),
            )
            for table in tables
        ],
    )
    _say_advice(tables, as_json=as_json)


def _say_advice(tables: list[Any], *, as_json: bool) -> None:
    for table in [] if as_json else tables:
        for text in (table["problem"], table["advice"]):
            if text is not None:
                say(f"{table['topic']}: {text}")


async def _merge(address: Gateway, tables: list[Any], waiting: PipelineWait) -> list[Any]:
    """Ask for all tables, and wait until each is answered."""
    asked = {
        table["topic"]: ask_gateway(address, f"{PATH}/{quote(table['topic'], safe='')}", {})["merge"]
        for table in tables
    }
    done: dict[str, Any] = {}
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as shown:
        task = shown.add_task("merging", total=sum(table["mergeable_files"] for table in tables))
        while True:
            waits = False
            for topic in [one for one in asked if one not in done]:
                answer = ask_gateway(address, f"{MERGES_PATH}/{asked[topic]}")
                if answer["state"] == "asked":
                    waits = True
                    break  # the pipeline works them off in this order
                done[topic] = {"topic": topic} | {name: answer[name] for name in ("files", "into", "bytes", "reason")}
                shown.advance(task, next(one["mergeable_files"] for one in tables if one["topic"] == topic))
            if not waits:
                return list(done.values())
            state = PipelineState(name=answer["pipeline"], ruled_out=answer["no_pipeline"])
            await waiting.go_on(state, f"{counted(len(asked) - len(done), 'table')} not merged yet")

"""lakestream top: the console's overview in a terminal, live: warnings, traffic, topics by rate.

lakestream top
lakestream top --once
"""

import asyncio
import sys
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at
from lakestream.cli.output import counted, in_units, print_json, shown
from lakestream.cli.service import Gateway
from lakestream.world.clock import SystemClock

_BARS = "▁▂▃▄▅▆▇█"
_BARS_MAX = 60
_TOPICS_MAX = 20
_PIPE_WIDTH = 120


def top(
    interval: Annotated[float, typer.Option(min=0.5, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print one look, and end.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Watch the cluster: warnings, traffic and topics. Ctrl-C ends it."""
    gateway = gateway_at(config, values, http)
    looked = _look(gateway)
    if as_json:
        print_json(looked)
        return
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)
    if once or not sys.stdout.isatty():
        console.print(picture(looked))
        return
    asyncio.run(_watch(console, gateway, looked, interval))


async def _watch(console: Console, gateway: Gateway, looked: dict[str, Any], interval: float) -> None:
    clock = SystemClock()
    with Live(picture(looked), console=console, screen=True, auto_refresh=False) as live:
        while True:
            await clock.sleep(interval)
            live.update(picture(_look(gateway)), refresh=True)


def _look(gateway: Gateway) -> dict[str, Any]:
    return {
        "summary": ask_gateway(gateway, "/admin/summary"),
        "traffic": ask_gateway(gateway, "/admin/traffic")["samples"],
        "topics": ask_gateway(gateway, "/admin/topics")["topics"],
    }


def picture(looked: dict[str, Any]) -> RenderableType:
    """One look. Warnings come first."""
    summary = looked["summary"]
    lines = [Text(f"! {shown(warning)}", style="bold red") for warning in summary["warnings"]]
    if not lines:
        lines = [Text("everything is ready, and every table keeps its promised freshness", style="green")]
    held = (
        f"{counted(summary['topics'], 'topic')}, {counted(summary['partitions'], 'partition')}, "
        f"{counted(summary['records'], 'record')} ({summary['untabled_records']} not in tables), "
        f"{in_units(summary['log_bytes'])} in one copy, WAL {in_units(summary['wal']['bytes'])}, "
        f"{counted(summary['groups'], 'group')}"
    )
    return Group(*lines, Text(held), _traffic(looked["traffic"]), _topics(looked["topics"]))


def _traffic(samples: list[dict[str, float]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, key, is_size in (
        ("bytes in", "produced_bytes", True),
        ("records in", "produced_records", False),
        ("bytes out", "fetched_bytes", True),
        ("records out", "fetched_records", False),
    ):
        values = [sample[key] for sample in samples]
        last = values[-1] if values else 0.0
        table.add_row(name, f"{in_units(int(last)) if is_size else f'{last:,.0f}'}/s", Text(bars(values), style="cyan"))
    return table


def bars(values: list[float]) -> str:
    """The last values as a line of bars, the greatest at full height."""
    kept = values[-_BARS_MAX:]
    most = max(kept, default=0.0) or 1.0
    return "".join(_BARS[min(len(_BARS) - 1, int(value / most * (len(_BARS) - 1) + 0.5))] for value in kept)


def _topics(topics: list[dict[str, Any]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("topic", overflow="fold")
    for name in ("records/s", "records", "size", "freshness", "behind"):
        table.add_column(name, justify="right")
    busiest = sorted(topics, key=lambda topic: (-(topic["records_per_second"] or 0), topic["name"]))
    for topic in busiest[:_TOPICS_MAX]:
        health = topic["table"]
        rate = topic["records_per_second"]
        table.add_row(
            escape(shown(topic["name"])),
            "" if rate is None else f"{rate:,.1f}",
            f"{topic['records']:,}",
            in_units(topic["bytes"]),
            health["freshness"],
            Text(f"{health['lag_seconds']:.0f} s", style="bold red" if health["late"] else ""),
        )
    return table

"""lakestream compact: ask the pipeline to bring topics into their tables now, and wait until it has.

What counts is what was in the topics when the command began; records that arrive meanwhile are not waited for.
"""

import asyncio
import sys
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.options import AsJson, Config, Http, SetValues, http_address
from lakestream.cli.output import print_json, say
from lakestream.settings.address import Address
from lakestream.world.clock import SystemClock

PATH = "/admin/compact"


class PartitionName(NamedTuple):
    topic: str
    partition: int


def compact(
    topics: Annotated[list[str] | None, typer.Argument(help="The topics. Default: all.", show_default=False)] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait before giving up.")] = 600.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Bring everything that is in the topics now into their tables."""
    address = http_address(config, values, http)
    asked = ask_gateway(address, PATH, {"topics": topics} if topics else {})
    wanted = {place: end for place, end, done in _ends(asked) if done < end}
    begun = {place: done for place, _, done in _ends(asked)}
    records = sum(end - begun[place] for place, end in wanted.items())
    asyncio.run(_wait(address, wanted, records, PipelineWait(timeout, SystemClock())))
    if as_json:
        print_json({"topics": sorted({place.topic for place in begun}), "records": records})
    else:
        say(f"{records} records were brought into the tables of {len({place.topic for place in begun})} topics")


async def _wait(address: Address, wanted: dict[PartitionName, int], records: int, waiting: PipelineWait) -> None:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as shown:
        task = shown.add_task("compacting", total=records)
        while True:
            found = ask_gateway(address, PATH)
            now = {place: done for place, _, done in _ends(found)}
            left = sum(max(0, end - now.get(place, end)) for place, end in wanted.items())
            shown.update(task, completed=records - left)
            if not left:
                return
            await waiting.go_on(found["pipeline"], f"{left} records are still not in their tables")


def _ends(answer: Any) -> Iterator[tuple[PartitionName, int, int]]:
    """Of each partition its end, and how far it is in the table or gone."""
    for topic in answer["topics"]:
        for part in topic["partitions"]:
            done = max(part["tabled_until"], part["log_start"])
            yield PartitionName(topic["name"], part["partition"]), part["next_offset"], done

"""lakestream compact: ask the pipeline to bring topics into their tables now, and wait until it has.

The command waits for the records that were in the topics when it began, not for records that arrive meanwhile.
"""

import asyncio
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from lakestream.administration.compaction import CompactionGoal, CompactionProgress, TopicProgress
from lakestream.administration.pipeline import PipelineState
from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at
from lakestream.cli.output import counted, print_json, say
from lakestream.cli.service import Gateway
from lakestream.model.place import Tail
from lakestream.world.clock import SystemClock

PATH = "/admin/compact"


def compact(
    topics: Annotated[list[str] | None, typer.Argument(help="The topics. Default: all.", show_default=False)] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait before giving up.")] = 600.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Bring everything that is in the topics now into their tables."""
    address = gateway_at(config, values, http)
    progress = _progress(ask_gateway(address, PATH, {"topics": topics} if topics else {}))
    goal = CompactionGoal.of(progress)
    asyncio.run(_wait(address, goal, PipelineWait(timeout, SystemClock())))
    names = sorted({topic for topic, _ in progress.tails})
    if as_json:
        print_json({"topics": names, "records": goal.records})
    else:
        say(f"brought {counted(goal.records, 'record')} into the tables of {counted(len(names), 'topic')}")


async def _wait(address: Gateway, goal: CompactionGoal, waiting: PipelineWait) -> None:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as shown:
        task = shown.add_task("compacting", total=goal.records)
        while True:
            now = _progress(ask_gateway(address, PATH))
            left = goal.left(now)
            shown.update(task, completed=goal.records - left)
            if not left:
                return
            await waiting.go_on(now.pipeline, f"{counted(left, 'record')} not in tables yet")


def _progress(answer: Any) -> CompactionProgress:
    return CompactionProgress(
        pipeline=PipelineState(name=answer["pipeline"], ruled_out=answer["no_pipeline"]),
        topics=tuple(
            TopicProgress(name=topic["name"], tails={part["partition"]: _tail(part) for part in topic["partitions"]})
            for topic in answer["topics"]
        ),
    )


def _tail(part: Any) -> Tail:
    return Tail(*(part[name] for name in Tail._fields))

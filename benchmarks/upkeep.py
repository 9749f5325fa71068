"""What upkeep costs beside compaction under a steady load, and how many files it leaves: `python -m benchmarks upkeep`

    once a second: a batch for each of 8 partitions in the WAL -> a round of the pipeline -> a merge, upkeep, a sweep

The pipeline is asked in this order by hand, so that the CPU of each step is known: that of Spark's workers, of its Java
process and of this process. Merging keeps to its usual share of the time.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.order_records import BATCH_RECORDS, PARTITIONS, OrderRecords
from benchmarks.own_pipeline import Cpu, OwnPipeline, own_pipeline
from benchmarks.report import Outcome, Section, number, today
from benchmarks.scratch import scratch_folder
from lakestream.catalog.topic.merge_plan import MergeLimits

VALUE_BYTES = 185
TARGET_BYTES = MergeLimits().target_bytes
UPKEEP_EVERY = 10
"""Rounds between two looks for files that nobody needs, as in the pipeline process."""
SHARE_MAX = 0.15
FILES_BEYOND_MAX = 60
KIND = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    seconds: int
    records: int
    """Of each partition, each second."""


FULL = Plan(seconds=900, records=BATCH_RECORDS)
QUICK = Plan(seconds=60, records=BATCH_RECORDS)


@dataclass(slots=True, kw_only=True)
class Measured:
    compaction_s: list[float] = field(default_factory=list)
    """CPU of each round, workers, Java and driver together."""
    upkeep_s: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    records: int = 0
    wall_s: float = 0.0

    @property
    def share(self) -> float:
        return sum(self.upkeep_s) / sum(self.compaction_s)

    @property
    def files_beyond(self) -> int:
        """Files at the end, beyond those that their bytes would fill."""
        return self.files[-1] - self.bytes[-1] // TARGET_BYTES


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder:
        asyncio.run(_steady(plan, folder, measured, console))
    return Outcome(sections=[_section(plan, measured)], figures=asdict(measured))


async def _steady(plan: Plan, folder: Path, measured: Measured, console: Console) -> None:
    orders = OrderRecords(VALUE_BYTES)
    async with own_pipeline(folder) as ours:
        await ours.owe("warm", orders, PARTITIONS * BATCH_RECORDS, value_format=KIND)
        await ours.pay()
        topic = await ours.create("steady", value_format=KIND)
        began = time.monotonic()
        for second in range(plan.seconds):
            await asyncio.sleep(max(0.0, began + second - time.monotonic()))
            await ours.fill(topic, orders, PARTITIONS * plan.records)
            measured.records += PARTITIONS * plan.records
            measured.compaction_s.append(await _cpu_of(ours, ours.compact))
            measured.upkeep_s.append(await _cpu_of(ours, ours.merge))
            if second % UPKEEP_EVERY == UPKEEP_EVERY - 1:
                measured.upkeep_s[-1] += await _cpu_of(ours, ours.keep_up)
            files, bytes = await ours.files(topic)
            measured.files.append(files)
            measured.bytes.append(bytes)
            if second % 60 == 59:
                console.print(f"{second + 1} s: {files} files, upkeep {measured.share:.0%}", highlight=False)
        measured.wall_s = time.monotonic() - began


async def _cpu_of(ours: OwnPipeline, step: Callable[[], Awaitable[object]]) -> float:
    before: Cpu = ours.cpu()
    await step()
    return sum(ours.cpu() - before)


def _section(plan: Plan, measured: Measured) -> Section:
    millions = measured.records / 1e6
    offered = PARTITIONS * plan.records * VALUE_BYTES / 1e6
    return Section(
        name="upkeep",
        title="Upkeep beside compaction",
        note=(
            f"One topic of {PARTITIONS} partitions, {offered:.1f} MB of {VALUE_BYTES} B JSON records in the WAL and a "
            f"round of compaction {plan.seconds:,} times, once a second if the machine keeps up ({measured.wall_s:,.0f}"
            f" s in all); {os.cpu_count()} cores, {today()}. The aims: upkeep under {SHARE_MAX:.0%} of compaction's "
            f"CPU, at most {FILES_BEYOND_MAX} files beyond bytes / 128 MiB."
        ),
        columns=["", "measured"],
        rows=[
            ["rows", f"{measured.records:,}"],
            ["CPU of compaction", f"{number(sum(measured.compaction_s))} s, {_each(measured.compaction_s, millions)}"],
            ["CPU of upkeep", f"{number(sum(measured.upkeep_s))} s, {_each(measured.upkeep_s, millions)}"],
            ["upkeep / compaction", f"{measured.share:.1%}"],
            ["files written by compaction", f"{plan.seconds:,} or more"],
            ["files at the end", f"{measured.files[-1]} of {number(measured.bytes[-1] / 1e6)} MB"],
            ["files over time", f"median {statistics.median(measured.files):.0f}, most {max(measured.files)}"],
            ["files beyond bytes / 128 MiB", f"{measured.files_beyond}"],
        ],
    )


def _each(cpu_s: Sequence[float], millions: float) -> str:
    return f"{number(sum(cpu_s) / millions)} s for a million rows"

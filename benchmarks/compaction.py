"""From log to table, beside a Structured Streaming job and the Iceberg sink of Kafka Connect, in one run.

    `python -m benchmarks compaction`: the same records for all, warm, in alternating rounds A B C A B C

    Lakestream             WAL segments -> our pipeline's rounds -> the topic's table
    Structured Streaming   Apache Kafka -> stock Spark, availableNow -> Iceberg, the same columns
    Connect sink           Apache Kafka -> Iceberg's own sink -> Iceberg; warm and helped, and once as it comes

The peers read from Apache Kafka, their home ground, whose CPU is not counted as theirs. Wall is what a round takes; CPU
is that of the whole process tree, Java included.
"""

import asyncio
import os
import statistics
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.order_records import PARTITIONS, OrderRecords
from benchmarks.own_pipeline import Cpu, OwnPipeline, own_pipeline
from benchmarks.peers import iceberg_sink, kafka, structured_streaming
from benchmarks.peers.iceberg_sink import AS_IT_COMES, IcebergSink
from benchmarks.peers.structured_streaming import StructuredStreaming
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.scratch import scratch_folder
from benchmarks.taken import Taken

VALUE_BYTES = 185
WARM_RECORDS = 200_000
SECTIONS = {"raw": "compaction", "json": "typed-compaction"}
OURS, STREAMING, SINK = "Lakestream", "Structured Streaming", "Connect sink, warm and helped"
SINK_AS_IT_COMES = "Connect sink, as it comes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    kind: str
    """`raw`: the columns of a raw topic. `json`: a column for each of the ten fields of the values."""
    records: int
    rounds: int
    sink_rounds: int
    """It is the slowest by far."""
    sink_s_max: float
    sink_as_it_comes_s_max: float


FULL = Plan(kind="raw", records=2_000_000, rounds=3, sink_rounds=2, sink_s_max=75, sink_as_it_comes_s_max=120)
QUICK = Plan(kind="raw", records=400_000, rounds=2, sink_rounds=1, sink_s_max=60, sink_as_it_comes_s_max=90)


@dataclass(slots=True, kw_only=True)
class Measured:
    taken: dict[str, list[Taken]] = field(default_factory=dict)
    own_cpu: list[Cpu] = field(default_factory=list)
    sink_best_records_s: list[float] = field(default_factory=list)
    sink_rows: list[int] = field(default_factory=list)
    wal_bytes: int = 0
    table_bytes: int = 0

    def add(self, who: str, taken: Taken) -> None:
        self.taken.setdefault(who, []).append(taken)


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder:
        asyncio.run(_rounds(plan, folder, measured, console))
    return Outcome(sections=[_section(plan, measured)], figures=asdict(measured))


async def _rounds(plan: Plan, folder: Path, measured: Measured, console: Console) -> None:
    orders = OrderRecords(VALUE_BYTES)
    async with AsyncExitStack() as stack:
        broker = stack.enter_context(kafka.running(folder / "kafka"))
        streaming = stack.enter_context(structured_streaming.running(broker.bootstrap, folder / "spark"))
        sink = stack.enter_context(
            iceberg_sink.running(broker.bootstrap, folder / "connect", folder / "spark" / "warehouse")
        )
        ours = await stack.enter_async_context(own_pipeline(folder / "own"))
        for topic, records in (("warm", WARM_RECORDS), ("orders", plan.records)):
            orders.load(broker.bootstrap, topic, records)
        await _warm_up(plan.kind, ours, streaming, sink, orders)
        for turn in range(plan.rounds):
            os.sync()
            await _our_round(plan, ours, orders, f"orders-{turn}", measured)
            measured.add(STREAMING, streaming.catch_up("orders", f"streaming_{turn}", plan.records, plan.kind))
            if turn < plan.sink_rounds:
                _sink_round(streaming, sink, f"sink_{turn}", plan, measured)
            told = ", ".join(f"{who} {rounds[-1].wall_s:.1f} s" for who, rounds in measured.taken.items())
            console.print(f"round {turn + 1}: {told}", highlight=False)
        _sink_as_it_comes(broker.bootstrap, folder, plan, measured)


async def _warm_up(
    kind: str, ours: OwnPipeline, streaming: StructuredStreaming, sink: IcebergSink, orders: OrderRecords
) -> None:
    await ours.owe("warm", orders, 2 * WARM_RECORDS, value_format=kind)
    await ours.pay()
    for turn in range(2):
        streaming.catch_up("warm", f"warm_{turn}", WARM_RECORDS, kind)
    streaming.create_table("warm_sink", kind)
    sink.catch_up("warm", "warm_sink", WARM_RECORDS, kind, seconds_max=40)


async def _our_round(plan: Plan, ours: OwnPipeline, orders: OrderRecords, topic: str, measured: Measured) -> None:
    stored = ours.table_bytes()
    measured.wal_bytes = await ours.owe(topic, orders, plan.records, value_format=plan.kind)
    paid = await ours.pay()
    measured.table_bytes = ours.table_bytes() - stored
    measured.own_cpu.append(paid.cpu)
    measured.add(OURS, Taken(wall_s=paid.wall_s, cpu_s=sum(paid.cpu)))


def _sink_round(streaming: StructuredStreaming, sink: IcebergSink, table: str, plan: Plan, measured: Measured) -> None:
    streaming.create_table(table, plan.kind)
    caught = sink.catch_up("orders", table, plan.records, plan.kind, seconds_max=plan.sink_s_max)
    measured.add(SINK, caught.taken)
    measured.sink_best_records_s.append(caught.best_records_s)
    measured.sink_rows.append(caught.rows)


def _sink_as_it_comes(bootstrap: str, folder: Path, plan: Plan, measured: Measured) -> None:
    warehouse = folder / "spark" / "warehouse"
    with iceberg_sink.running(bootstrap, folder / "connect-as-it-comes", warehouse, AS_IT_COMES) as sink:
        caught = sink.catch_up(
            "orders", "as_it_comes", plan.records, plan.kind, seconds_max=plan.sink_as_it_comes_s_max
        )
    measured.add(SINK_AS_IT_COMES, caught.taken)
    measured.sink_rows.append(caught.rows)


def _section(plan: Plan, measured: Measured) -> Section:
    ours = measured.taken[OURS]
    rows = [_row(plan, who, rounds, ours) for who, rounds in measured.taken.items()]
    best_s = [plan.records / rate for rate in measured.sink_best_records_s if rate]
    if best_s:
        ratio = statistics.median(best_s) / statistics.median(each.wall_s for each in ours)
        rows.append([f"{SINK}, at its best pace", str(Spread.of(best_s)), f"{ratio:.1f}x", "", "", ""])
    return Section(
        name=SECTIONS[plan.kind],
        title=f"From log to table ({plan.kind})",
        note=_note(plan, measured),
        columns=["", "wall s", "ours is faster by", "CPU s", "ours is cheaper by", "records/s"],
        rows=rows,
    )


def _row(plan: Plan, who: str, rounds: list[Taken], ours: list[Taken]) -> list[str]:
    walls, cpus = [each.wall_s for each in rounds], [each.cpu_s for each in rounds]
    pairs = list(zip(rounds, ours, strict=False))  # the sink has fewer rounds
    faster = statistics.median(theirs.wall_s / mine.wall_s for theirs, mine in pairs)
    cheaper = statistics.median(theirs.cpu_s / mine.cpu_s for theirs, mine in pairs)
    ratios = ["", ""] if who == OURS else [f"{faster:.1f}x", f"{cheaper:.1f}x"]
    rate = number(plan.records / statistics.median(walls))
    return [who, str(Spread.of(walls)), ratios[0], str(Spread.of(cpus)), ratios[1], rate]


def _note(plan: Plan, measured: Measured) -> str:
    mb = measured.wal_bytes / 1e6
    wall_s = statistics.median(each.wall_s for each in measured.taken[OURS])
    parts = [statistics.median(each) for each in zip(*measured.own_cpu, strict=True)]
    unfinished = [rows for rows in measured.sink_rows if rows < plan.records]
    cut = (
        f" The sink had not finished in time in {len(unfinished)} of {len(measured.sink_rows)}"
        f" rounds (rows by then: {', '.join(map(number, unfinished))})."
        if unfinished
        else ""
    )
    return (
        f"{number(plan.records)} records of {VALUE_BYTES} B ({number(mb)} MB of WAL, {PARTITIONS} partitions),"
        f" {os.cpu_count()} cores, warm, alternating rounds, {today()}: median [range]."
        f" Ours is {number(mb / wall_s)} MB of WAL a second, {number(mb / sum(parts))} MB for each second of CPU"
        f" ({', '.join(f'{name} {number(part)} s' for name, part in zip(Cpu._fields, parts, strict=True))}), and stores"
        f" {number(measured.table_bytes / 1e6)} MB.{cut}"
    )

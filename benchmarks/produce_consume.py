"""Produce and consume beside Apache Kafka: throughput, server CPU per gigabyte, memory, single-record latency.

    start both servers -> for each load: A B A B A B, each round on a fresh topic:
        produce (acks=all) -> consume everything -> delete the topic
    -> single records, one at a time -> medians and ranges -> table, page, JSON

The servers stay up between rounds, as servers do, and one short round on each is thrown away first: it warms
the JVM. Before every round the disk is synced, so that no round pays for writes another has left behind.
"""

import os
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.clients import Load, Moved, consume, create_topic, delete_topic, latencies_s, produce
from benchmarks.disk import durable_mb_s
from benchmarks.peers.server import PeakMemory, Server
from benchmarks.quantiles import quantile
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.side_by_side import side_by_side

PARTITIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    loads: Sequence[Load]
    rounds: int
    latency_s: float
    disk_s: float


def _load(value_bytes: int, codec: str, records: int, *, seconds: float) -> Load:
    return Load(value_bytes=value_bytes, codec=codec, partitions=PARTITIONS, records=records, seconds=seconds)


FULL = Plan(
    loads=[
        _load(size, codec, records, seconds=3)
        for size, records in ((1000, 1_500_000), (100, 4_000_000))
        for codec in ("none", "lz4")
    ],
    rounds=4,
    latency_s=2,
    disk_s=2,
)
QUICK = Plan(
    loads=[_load(1000, "none", 300_000, seconds=1), _load(100, "none", 1_000_000, seconds=1)],
    rounds=3,
    latency_s=0.7,
    disk_s=0.7,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    load: str
    server: str
    phase: str
    mb_s: float
    records_s: float
    cpu_s_per_gb: float


@dataclass(slots=True, kw_only=True)
class Measured:
    """Everything the rounds gave, before it is summed up."""

    rounds: list[Round] = field(default_factory=list)
    latency_ms: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    peak_rss_mb: dict[str, float] = field(default_factory=dict)
    disk_mb_s: list[float] = field(default_factory=list)

    def figures(self, load: str, server: str, phase: str, figure: str) -> list[float]:
        """One figure of every round, in the order of the rounds."""
        chosen = [each for each in self.rounds if (each.load, each.server, each.phase) == (load, server, phase)]
        return [getattr(each, figure) for each in chosen]


def run(plan: Plan, console: Console, *, only: str | None = None) -> Outcome:
    measured = Measured()
    with side_by_side(only=only) as running, ExitStack() as stack:
        servers = running.servers
        watches = {server.name: stack.enter_context(PeakMemory(server.pid)) for server in servers}
        _rounds(plan, servers, running.folder, measured, console)
        measured.peak_rss_mb = {name: watch.bytes / 1e6 for name, watch in watches.items()}
    versions = {each.name: each.version for each in servers}
    return Outcome(
        sections=[_throughput(plan, servers, measured), _costs(servers, measured)],
        figures=asdict(measured) | {"versions": versions},
    )


def _rounds(plan: Plan, servers: Sequence[Server], folder: Path, measured: Measured, console: Console) -> None:
    for server in servers:
        _round(server, _load(1000, "none", 200_000, seconds=2), "warm", Measured())
    for load in plan.loads:
        measured.disk_mb_s.append(durable_mb_s(folder, seconds=plan.disk_s))
        for number_of_round in range(plan.rounds):
            for server in servers:
                _round(server, load, f"{number_of_round}", measured)
                last = measured.rounds[-2:]
                told = ", ".join(f"{each.phase} {number(each.mb_s)} MB/s" for each in last)
                console.print(f"{load.name}, round {number_of_round + 1}, {server.name}: {told}", highlight=False)
    for number_of_round in range(plan.rounds):
        for server in servers:
            _latency(server, plan.latency_s, f"latency-{number_of_round}", measured)


def _round(server: Server, load: Load, label: str, measured: Measured) -> None:
    topic = f"bench-{load.value_bytes}-{load.codec}-{label}"
    create_topic(server.bootstrap, topic, load.partitions)
    os.sync()
    before_s = server.cpu_s()
    produced = produce(server.bootstrap, topic, load)
    between_s = server.cpu_s()
    consumed = consume(server.bootstrap, topic, load, produced)
    after_s = server.cpu_s()
    delete_topic(server.bootstrap, topic)
    measured.rounds += [
        _figures(load, server, "produce", produced, between_s - before_s),
        _figures(load, server, "consume", consumed, after_s - between_s),
    ]


def _figures(load: Load, server: Server, phase: str, moved: Moved, cpu_s: float) -> Round:
    return Round(
        load=load.name,
        server=server.name,
        phase=phase,
        mb_s=moved.mb_s,
        records_s=moved.records_s,
        cpu_s_per_gb=cpu_s / (moved.bytes / 1e9),
    )


def _latency(server: Server, seconds: float, topic: str, measured: Measured) -> None:
    create_topic(server.bootstrap, topic, 1)
    taken = latencies_s(server.bootstrap, topic, seconds=seconds)
    delete_topic(server.bootstrap, topic)
    p50, p99 = (quantile(taken, share) * 1e3 for share in (0.5, 0.99))
    measured.latency_ms.setdefault(server.name, []).append((p50, p99))


def _throughput(plan: Plan, servers: Sequence[Server], measured: Measured) -> Section:
    rows = []
    for load in plan.loads:
        for phase in ("produce", "consume"):
            cells = [f"{load.name}, {phase}"]
            for figure in ("mb_s", "records_s", "cpu_s_per_gb"):
                rounds = [measured.figures(load.name, server.name, phase, figure) for server in servers]
                cells += _cells(figure, rounds)
            rows.append(cells)
    return Section(
        name="produce-consume",
        title="Produce and consume beside Apache Kafka",
        note=_circumstances(plan, servers, measured),
        columns=_columns(servers),
        rows=rows,
    )


def _cells(figure: str, rounds: Sequence[Sequence[float]]) -> list[str]:
    """A cell for each server and, where there are two, the ratio of the first to the second."""
    if figure == "records_s":  # the same as MB/s in another unit: the range and the ratio would say nothing new
        return [number(statistics.median(each)) for each in rounds]
    cells = [str(Spread.of(each)) for each in rounds]
    if len(rounds) == 2:
        # Neighbouring rounds are compared with each other, so that a slow minute does not count against one side.
        cells.append(f"{statistics.median(ours / theirs for ours, theirs in zip(*rounds, strict=True)):.2f}x")
    return cells


def _columns(servers: Sequence[Server]) -> list[str]:
    columns = ["load"]
    for unit in ("MB/s", "records/s", "CPU-s/GB"):
        columns += [f"{server.name} {unit}" for server in servers]
        if len(servers) == 2 and unit != "records/s":
            columns.append("ratio")
    return columns


def _circumstances(plan: Plan, servers: Sequence[Server], measured: Measured) -> str:
    versions = " and ".join(f"{server.name} {server.version}" for server in servers)
    return (
        f"{versions} on {os.cpu_count()} cores shared with 2 librdkafka client processes, {PARTITIONS} partitions,"
        f" {plan.rounds} alternating rounds each, {today()}: median [range]."
        f" The disk's durable rate in the same run: {Spread.of(measured.disk_mb_s)} MB/s."
    )


def _costs(servers: Sequence[Server], measured: Measured) -> Section:
    rows = [["peak resident memory, MB", *(number(measured.peak_rss_mb[server.name]) for server in servers)]]
    for at, name in enumerate(("p50", "p99")):
        spreads = [Spread.of([each[at] for each in measured.latency_ms[server.name]]) for server in servers]
        rows.append([f"one record at a time, {name} ms", *map(str, spreads)])
    return Section(
        name="produce-consume-costs",
        title="Memory and single-record latency",
        note="Resident memory is summed over the server's processes, so pages that they share count more than once.",
        columns=["", *(server.name for server in servers)],
        rows=rows,
    )

"""Consumer groups beside Apache Kafka: rebalances, a group that reads, offset commits. `python -m benchmarks groups`

    rebalance   100 members, one joins or leaves -> until all have their share; both protocols    (rebalance.py)
    reading     8 librdkafka consumers subscribe to 16 partitions and read a topic to its end     (group_reading.py)
    commits     1 and 64 clients commit offsets as fast as they are answered                      (offset_commits.py)

Both servers run throughout; a short round on each warms them up, then rounds alternate.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Console

from benchmarks.clients import Load, create_topic, delete_topic, produce
from benchmarks.group_reading import READ_PARTITIONS, READERS, read_as_group
from benchmarks.offset_commits import commits_per_s
from benchmarks.peers.server import Server
from benchmarks.rebalance import MEMBERS, classic_rebalances_s, consumer_rebalances_s
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.side_by_side import side_by_side

MEMBER_PARTITIONS = 2 * MEMBERS
CLIENTS = (1, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    rounds: int
    rebalances: int
    """In a round; each is one that joins and one that leaves."""
    records: int
    commits_s: float


FULL = Plan(rounds=3, rebalances=2, records=500_000, commits_s=2)
QUICK = Plan(rounds=1, rebalances=1, records=200_000, commits_s=1)


@dataclass(slots=True, kw_only=True)
class Measured:
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """By what was measured, then by server: one for each round."""

    def add(self, what: str, server: Server, figure: float) -> None:
        self.figures.setdefault(what, {}).setdefault(server.name, []).append(figure)


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with side_by_side() as running:
        for server in running.servers:
            create_topic(server.bootstrap, "committed", 1)
            create_topic(server.bootstrap, "shared", MEMBER_PARTITIONS)
            _round(QUICK, server, "warm", Measured())
        for turn in range(plan.rounds):
            for server in running.servers:
                started = time.monotonic()
                _round(plan, server, f"{turn}", measured)
                console.print(f"round {turn + 1}, {server.name}: {time.monotonic() - started:.0f} s", highlight=False)
    section = _section(plan, running.servers, measured)
    return Outcome(sections=[section], figures=asdict(measured))


def _round(plan: Plan, server: Server, turn: str, measured: Measured) -> None:
    address = server.bootstrap
    before_s = server.cpu_s()
    taken = asyncio.run(classic_rebalances_s(address, f"classic-{turn}", plan.rebalances))
    measured.add("rebalance, classic, ms", server, statistics.median(taken) * 1e3)
    taken = asyncio.run(
        consumer_rebalances_s(address, f"consumer-{turn}", "shared", MEMBER_PARTITIONS, plan.rebalances)
    )
    measured.add("rebalance, KIP-848, ms", server, statistics.median(taken) * 1e3)
    measured.add("rebalances, server CPU s", server, server.cpu_s() - before_s)
    _read(plan, server, turn, measured)
    for clients in CLIENTS:
        before_s = server.cpu_s()
        rate = asyncio.run(commits_per_s(address, "committed", clients, plan.commits_s, f"commits-{clients}-{turn}"))
        cpu_us = (server.cpu_s() - before_s) / (rate * plan.commits_s) * 1e6
        measured.add(f"OffsetCommits/s, {clients} client{'s' if clients > 1 else ''}", server, rate)
        measured.add(f"CPU of one commit, {clients} client{'s' if clients > 1 else ''}, us", server, cpu_us)


def _read(plan: Plan, server: Server, turn: str, measured: Measured) -> None:
    topic = f"read-{turn}"
    load = Load(value_bytes=1000, codec="none", partitions=READ_PARTITIONS, records=plan.records, seconds=20)
    create_topic(server.bootstrap, topic, READ_PARTITIONS)
    produced = produce(server.bootstrap, topic, load)
    os.sync()
    before_s = server.cpu_s()
    measured.add("group of 8 reads, MB/s", server, read_as_group(server.bootstrap, topic, produced).mb_s)
    measured.add("group of 8 reads, server CPU-s/GB", server, (server.cpu_s() - before_s) / (produced.bytes / 1e9))
    delete_topic(server.bootstrap, topic)


def _section(plan: Plan, servers: Sequence[Server], measured: Measured) -> Section:
    rows = []
    for what, by_server in measured.figures.items():
        rounds = [by_server[server.name] for server in servers]
        ratio = statistics.median(ours / theirs for ours, theirs in zip(*rounds, strict=True))
        rows.append([what, *(str(Spread.of(each)) for each in rounds), f"{ratio:.2f}x"])
    versions = " and ".join(f"{server.name} {server.version}" for server in servers)
    return Section(
        name="groups",
        title="Consumer groups beside Apache Kafka",
        note=(
            f"{versions}, {plan.rounds} alternating rounds, clients on the same {os.cpu_count()} cores,"
            f" {today()}: median [range]. Rebalances: {MEMBERS} members and one that joins or leaves, heartbeats every"
            f" 100 ms; by KIP-848 over {number(MEMBER_PARTITIONS)} partitions. Reading: {READERS} librdkafka processes,"
            f" {READ_PARTITIONS} partitions, {plan.records / 1e6:.1f} GB of 1 KB records."
            " A commit of Lakestream is fsynced, one of stock Kafka is not."
        ),
        columns=["", *(server.name for server in servers), "ratio"],
        rows=rows,
    )

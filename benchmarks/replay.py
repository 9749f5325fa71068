"""Reading a topic from its table, beside reading the same records from WAL segments: `python -m benchmarks replay`

    up -> produce topic A -> stop -> pipeline until A is in its table -> stop
    up -> produce topic B, the same records -> stop -> up: caches are cold, A is table and B is WAL
    rounds A B A B: librdkafka reads everything -> MB/s, and CPU of the broker for each gigabyte
    random seeks in A and B: from the assignment to the first record

The topics are several times larger than the broker's caches, so that every round reads files. As many processes read as
there are clients' cores, so that all cores are taken; then one alone, as a replay mostly is; and both of a table whose
files are lz4, which its owner may choose.
"""

import os
import random
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table
from rich.console import Console

from benchmarks.clients import DRAIN_S_MAX, PROCESSES, Load, Moved, RoundFailed, consume, create_topic, produce
from benchmarks.peers import lakestream
from benchmarks.peers.lakestream import program
from benchmarks.peers.server import Server
from benchmarks.quantiles import quantile
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.scratch import scratch_folder

PARTITIONS = 8
TABLE, WAL = "table", "WAL"
COMPACTION_S_MAX = 120
TARGET, SEEK_TARGET_MS = 0.7, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is read: records of one load, from table files of one codec."""

    load: Load
    codec: str = "zstd"
    readers: int = PROCESSES

    @property
    def name(self) -> str:
        codec = "" if self.codec == "zstd" else f", files in {self.codec}"
        return f"{self.load.name}{codec}{', one reader' if self.readers == 1 else ''}"

    @property
    def topics(self) -> dict[str, str]:
        """The topic of each place. What is in the WAL does not depend on how a table is compressed."""
        return {TABLE: f"table-{self.load.value_bytes}-{self.codec}", WAL: f"wal-{self.load.value_bytes}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    cases: Sequence[Case]
    rounds: int
    seeks: int

    def topics(self, place: str) -> dict[str, Case]:
        """Each topic of a place once, with a case that it is for."""
        return {case.topics[place]: case for case in self.cases}


def _load(value_bytes: int, records: int) -> Load:
    return Load(value_bytes=value_bytes, codec="none", partitions=PARTITIONS, records=records, seconds=30)


def _cases(small: Load, large: Load) -> tuple[Case, ...]:
    return (
        Case(load=small),
        Case(load=small, readers=1),
        Case(load=large),
        Case(load=large, readers=1),
        Case(load=large, codec="lz4"),
    )


FULL = Plan(cases=_cases(_load(185, 5_400_000), _load(1000, 1_000_000)), rounds=3, seeks=50)
QUICK = Plan(cases=_cases(_load(185, 2_000_000), _load(1000, 400_000)), rounds=2, seeks=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    case: str
    place: str
    mb_s: float
    records_s: float
    cpu_s_per_gb: float


@dataclass(slots=True, kw_only=True)
class Measured:
    rounds: list[Round] = field(default_factory=list)
    seeks_ms: dict[str, list[float]] = field(default_factory=dict)

    def figures(self, case: str, place: str, figure: str) -> list[float]:
        return [getattr(each, figure) for each in self.rounds if (each.case, each.place) == (case, place)]


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder:
        produced = _prepare(plan, folder)
        with lakestream.running(folder) as server:
            for case in plan.cases:
                _rounds(plan, case, server, produced, measured, console)
            for place, topic in plan.cases[0].topics.items():
                measured.seeks_ms[place] = seeks_ms(server.bootstrap, topic, plan.seeks)
    return Outcome(sections=[_section(plan, measured)], figures=asdict(measured))


def _prepare(plan: Plan, folder: Path) -> dict[str, Moved]:
    """All topics, those of tables in their tables and the others in the WAL; what was produced to each."""
    _make_tables(plan, folder)
    produced: dict[str, Moved] = {}
    for place in (TABLE, WAL):
        with lakestream.running(folder) as server:
            for topic, case in plan.topics(place).items():
                if place == WAL:
                    _create(server, topic, case)
                produced[topic] = produce(server.bootstrap, topic, case.load)
        if place == TABLE:
            _compact(folder)
    return produced


def _make_tables(plan: Plan, folder: Path) -> None:
    """Topics and their tables, which are told how their files are to be compressed before there are any."""
    with lakestream.running(folder, pipeline=True) as server:
        catalog = RestCatalog("lake", uri=f"{server.http}/iceberg")
        for topic, case in plan.topics(TABLE).items():
            _create(server, topic, case)
            table = _table(catalog, f"streams.{topic.replace('-', '_')}")
            with table.transaction() as transaction:
                transaction.set_properties({"write.parquet.compression-codec": case.codec})


def _table(catalog: RestCatalog, name: str) -> Table:
    """A topic's table, which is made soon after it."""
    deadline_s = time.monotonic() + COMPACTION_S_MAX
    while time.monotonic() < deadline_s:
        if catalog.table_exists(name):
            table: Table = catalog.load_table(name)
            return table
        time.sleep(0.1)
    raise RoundFailed(f"{name} was not made within {COMPACTION_S_MAX} s")


def _create(server: Server, topic: str, case: Case) -> None:
    create_topic(server.bootstrap, topic, case.load.partitions, config={"lakestream.value.format": "raw"})


def _compact(folder: Path) -> None:
    """Everything that is there now goes into its table."""
    with lakestream.running(folder, pipeline=True) as server:
        assert server.http is not None
        command = [program(), "compact", "--timeout", f"{COMPACTION_S_MAX}"]
        command += ["--http", server.http.removeprefix("http://")]
        compacted = subprocess.run(command, capture_output=True, text=True)
        if compacted.returncode:
            raise RoundFailed(f"the topics did not reach their tables: {compacted.stderr[-400:]}")


def _rounds(
    plan: Plan, case: Case, server: Server, produced: dict[str, Moved], measured: Measured, console: Console
) -> None:
    for turn in range(plan.rounds):
        for place, topic in case.topics.items():
            before_s = server.cpu_s()
            moved = consume(server.bootstrap, topic, case.load, produced[topic], processes=case.readers)
            round_ = Round(
                case=case.name,
                place=place,
                mb_s=moved.mb_s,
                records_s=moved.records_s,
                cpu_s_per_gb=(server.cpu_s() - before_s) / (moved.bytes / 1e9),
            )
            measured.rounds.append(round_)
            console.print(
                f"{case.name}, round {turn + 1}, {place}: {number(round_.mb_s)} MB/s,"
                f" {number(round_.cpu_s_per_gb)} CPU-s/GB",
                highlight=False,
            )


def seeks_ms(bootstrap: str, topic: str, count: int) -> list[float]:
    """From seeking to a random offset to the first record of it, one after the other, in one connected consumer."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
            "queued.min.messages": 1,  # a seek wants one record, not all that fit into the client's queue
            "fetch.queue.backoff.ms": 1,  # by default a full queue keeps the next seek waiting for a second
        }
    )
    ends = [
        consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=DRAIN_S_MAX)[1]
        for each in range(PARTITIONS)
    ]
    chance = random.Random(7)
    taken = []
    for _ in range(count + 1):
        partition = chance.randrange(PARTITIONS)
        offset = chance.randrange(ends[partition])
        started = time.perf_counter()
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(DRAIN_S_MAX)
        taken.append((time.perf_counter() - started) * 1e3)
        if message is None or message.error() or (message.partition(), message.offset()) != (partition, offset):
            raise RoundFailed(f"a seek to {topic}/{partition} at {offset} gave {message}")
        consumer.unassign()
    consumer.close()
    return taken[1:]  # the first one connects


def _section(plan: Plan, measured: Measured) -> Section:
    rows = []
    for case in plan.cases:
        cells = [case.name]
        for figure in ("mb_s", "cpu_s_per_gb"):
            table, wal = (measured.figures(case.name, place, figure) for place in (TABLE, WAL))
            ratio = statistics.median(ours / theirs for ours, theirs in zip(table, wal, strict=True))
            cells += [str(Spread.of(table)), str(Spread.of(wal)), f"{ratio:.2f}x"]
        rows.append(cells)
    return Section(
        name="replay",
        title="Replay from the table, beside the WAL",
        note=_note(plan, measured),
        columns=["values", "table MB/s", "WAL MB/s", "ratio", "table CPU-s/GB", "WAL CPU-s/GB", "ratio"],
        rows=rows,
    )


def _note(plan: Plan, measured: Measured) -> str:
    first = plan.cases[0].load
    size_gb = first.records * first.value_bytes / 1e9
    told = "; ".join(f"{place} {_quantiles(taken)}" for place, taken in measured.seeks_ms.items())
    return (
        f"Uncompressed, {PARTITIONS} partitions, {PROCESSES} librdkafka processes (or one) on the same"
        f" {os.cpu_count()} cores, {plan.rounds} alternating rounds, {today()}: median [range]; the aim is {TARGET}x"
        f" in MB/s; CPU is the server's. First record of a random seek in {size_gb:.1f} GB, {plan.seeks} seeks,"
        f" p50 / p99 / max:"
        f" {told} (aim: under {SEEK_TARGET_MS} ms)."
    )


def _quantiles(taken_ms: Sequence[float]) -> str:
    parts = [quantile(taken_ms, share) for share in (0.5, 0.99)]
    return " / ".join(number(each) for each in (*parts, max(taken_ms))) + " ms"

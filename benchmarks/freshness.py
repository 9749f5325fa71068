"""What each freshness holds and costs under a steady load, and how its table reads: `python -m benchmarks freshness`

    up (one pipeline) -> for each value one topic -> 5 MB/s -> its lag, four times a second -> commits, files, CPU
                                                            -> DuckDB on the table's files, and on the rows rewritten
                      -> an on-read topic -> how long a load takes, with new records and without

The lag of a topic is the age of its oldest record that is not in its table, as the metadata store has it. The CPU is
that of the pipeline's processes, so upkeep is in it.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import duckdb
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table
from rich.console import Console

from benchmarks.clients import DRAIN_S_MAX
from benchmarks.peers import lakestream
from benchmarks.peers.server import Server, cpu_s
from benchmarks.quantiles import quantile
from benchmarks.report import Outcome, Section, number, today
from benchmarks.scratch import scratch_folder
from benchmarks.steady import VALUE_BYTES, SteadyLoad
from benchmarks.table_lag import Lags, pipeline_pid
from benchmarks.values import json_values
from lakestream.model.freshness import FRESHNESS

SAMPLE_S = 0.25
BYTES_PER_S = 5_000_000
SCANS = 5
QUERIES = {
    "full scan": "SELECT count(*), sum(length(note)), sum(customer), sum(price) FROM {table}",
    "one column": "SELECT sum(price) FROM {table}",
    "1 % of the time": "SELECT count(*), sum(price) FROM {table} WHERE __timestamp >= {since}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    seconds: dict[str, float]
    """Of load, for each freshness."""
    loads: int


FULL = Plan(seconds={"1s": 300, "10s": 180, "1m": 180}, loads=30)
QUICK = Plan(seconds={"1s": 30, "10s": 30}, loads=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One freshness under load."""

    freshness: str
    rows: int
    lags_s: Sequence[float]
    cpu_s: float
    commits: int
    files: int
    bytes: int
    plan_s: float
    scans_s: dict[str, tuple[float, float]]
    """By query: on the table's files, on the same rows rewritten."""


@dataclass(slots=True, kw_only=True)
class Measured:
    held: list[Held] = field(default_factory=list)
    loads_s: dict[str, list[float]] = field(default_factory=dict)


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder, lakestream.running(folder, pipeline=True) as server:
        asyncio.run(_measure(plan, folder, server, measured, console))
    return Outcome(
        sections=[_bands(plan, measured.held), _reads(measured.held), _loads(measured.loads_s)],
        figures=asdict(measured),
    )


async def _measure(plan: Plan, folder: Path, server: Server, measured: Measured, console: Console) -> None:
    pipeline = await pipeline_pid(server)
    catalog = RestCatalog("lakestream", uri=f"{server.http}/iceberg")
    lags = await Lags.open(folder)
    try:
        _create_topics(server.bootstrap, ["on-read", *plan.seconds])
        await lags.caught_up(1 + len(plan.seconds))
        for freshness, seconds in plan.seconds.items():
            measured.held.append(await _hold(freshness, seconds, server, pipeline, catalog, lags, folder))
            console.print(f"{freshness}: {measured.held[-1].files} files", highlight=False)
    finally:
        await lags.close()
    measured.loads_s = _timed_loads(plan.loads, server.bootstrap, catalog)


def _create_topics(bootstrap: str, values: Sequence[str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})
    topics = [NewTopic(_topic(each), 4, 1, config={FRESHNESS: each}) for each in values]
    for future in admin.create_topics(topics).values():
        future.result(DRAIN_S_MAX)


def _topic(freshness: str) -> str:
    return f"fresh_{freshness.replace('-', '_')}"


async def _hold(
    freshness: str, seconds: float, server: Server, pipeline: int, catalog: RestCatalog, lags: Lags, folder: Path
) -> Held:
    sampled: list[float] = []
    before_s = cpu_s(pipeline)
    with SteadyLoad(server.bootstrap, _topic(freshness), BYTES_PER_S) as load:
        started = time.monotonic()
        while time.monotonic() < started + seconds:
            await asyncio.sleep(SAMPLE_S)
            sampled.append(max(await lags.owed(), default=0.0))
    await lags.caught_up(0)
    taken_s = cpu_s(pipeline) - before_s
    table = catalog.load_table(("streams", _topic(freshness)))
    planning = time.monotonic()
    files = [task.file for task in table.scan().plan_files()]
    plan_s = time.monotonic() - planning
    return Held(
        freshness=freshness,
        rows=load.sent,
        lags_s=sampled,
        cpu_s=taken_s,
        commits=_appends(table),
        files=len(files),
        bytes=sum(file.file_size_in_bytes for file in files),
        plan_s=plan_s,
        scans_s=_scans([file.file_path.removeprefix("file://") for file in files], folder / f"{freshness}.parquet"),
    )


def _appends(table: Table) -> int:
    return sum(1 for each in table.snapshots() if each.summary and each.summary.operation.value == "append")


def _scans(files: Sequence[str], rewritten: Path) -> dict[str, tuple[float, float]]:
    """The least of several runs of each query, over both forms in turn."""
    with duckdb.connect() as session:
        own = f"read_parquet({list(files)}, union_by_name=true)"
        session.execute(f"COPY (SELECT * FROM {own}) TO '{rewritten}' (FORMAT parquet, COMPRESSION zstd)")
        forms = (own, f"read_parquet('{rewritten}')")
        since = session.sql(f"SELECT quantile_disc(__timestamp, 0.99) FROM {forms[1]}").fetchall()[0][0]
        taken = {}
        for name, query in QUERIES.items():
            texts = [query.format(table=form, since=f"TIMESTAMPTZ '{since}'") for form in forms]
            rounds = [tuple(_query_s(session, text) for text in texts) for _ in range(SCANS)]
            taken[name] = (min(own for own, _ in rounds), min(other for _, other in rounds))
    rewritten.unlink()
    return taken


def _query_s(session: duckdb.DuckDBPyConnection, query: str) -> float:
    started = time.perf_counter()
    session.sql(query).fetchall()
    return time.perf_counter() - started


def _timed_loads(loads: int, bootstrap: str, catalog: RestCatalog) -> dict[str, list[float]]:
    """Loads of the on-read table: right after records were acknowledged, and again with nothing new."""
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    name = ("streams", _topic("on-read"))
    taken: dict[str, list[float]] = {"new records": [], "nothing new": []}
    for value in json_values(loads, VALUE_BYTES):
        producer.produce(_topic("on-read"), value)
        producer.flush(DRAIN_S_MAX)
        for each in taken.values():
            started = time.perf_counter()
            catalog.load_table(name)
            each.append(time.perf_counter() - started)
        time.sleep(1)  # the pipeline is asked once a second at most
    return taken


def _bands(plan: Plan, held: Sequence[Held]) -> Section:
    return Section(
        name="freshness",
        title="Freshness under a steady load",
        note=(
            f"One topic of 4 partitions for each value, {BYTES_PER_S / 1e6:.0f} MB/s of {VALUE_BYTES} B JSON records"
            f" for {', '.join(f'{seconds:.0f} s' for seconds in plan.seconds.values())}; broker, producer and pipeline"
            f" on the same {os.cpu_count()} cores, {today()}. CPU is that of the pipeline with its upkeep."
        ),
        columns=["freshness", "lag p50", "lag p99", "commits a minute", "files at the end", "CPU-s per million rows"],
        rows=[
            [
                each.freshness,
                f"{number(quantile(each.lags_s, 0.5))} s",
                f"{number(quantile(each.lags_s, 0.99))} s",
                number(60 * each.commits / plan.seconds[each.freshness]),
                f"{each.files} of {number(each.bytes / each.files / 1e6)} MB",
                number(each.cpu_s / each.rows * 1e6),
            ]
            for each in held
        ],
    )


def _reads(held: Sequence[Held]) -> Section:
    return Section(
        name="freshness-reads",
        title="Reading the tables of the steady load",
        note=(
            "DuckDB on the table's files beside the same rows in one file that DuckDB wrote with its defaults and zstd:"
            f" the least of {SCANS} runs each. PyIceberg plans a full scan, once."
        ),
        columns=["freshness", *QUERIES, "PyIceberg plans in"],
        rows=[
            [
                each.freshness,
                *(f"{own / rewritten:.2f}x of {1e3 * rewritten:.0f} ms" for own, rewritten in each.scans_s.values()),
                f"{1e3 * each.plan_s:.0f} ms",
            ]
            for each in held
        ],
    )


def _loads(loads_s: dict[str, list[float]]) -> Section:
    return Section(
        name="freshness-on-read",
        title="Loading an on-read table",
        note=f"PyIceberg's load_table, {today()}; the pipeline runs and has a warm session.",
        columns=["", "p50", "max"],
        rows=[
            [what, f"{number(quantile(taken, 0.5))} s", f"{number(max(taken))} s"] for what, taken in loads_s.items()
        ],
    )

"""How far tables lag behind their topics when there are many: `python -m benchmarks table_lag`

    up (one pipeline) -> 500 topics -> idle -> 200 of them get records all the time -> the lag of each, every second
                                    -> CPU of the pipeline meanwhile, and while nobody writes

The lag of a topic is the age of its oldest record that is not in its table, as the metadata store has it; a topic that
owes nothing has none. Records come from one producer, a few each second to every active topic.
"""

import asyncio
import os
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console

from benchmarks.clients import DRAIN_S_MAX, RoundFailed
from benchmarks.peers import lakestream
from benchmarks.peers.server import Server, cpu_s, process_tree
from benchmarks.quantiles import quantile
from benchmarks.report import Outcome, Section, number, today
from benchmarks.scratch import scratch_folder
from benchmarks.values import json_values
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

TOPICS, ACTIVE = 500, 200
RECORDS_PER_SECOND = 2
"""To each active topic."""
CAUGHT_UP_S_MAX = 90
START_S_MAX = 60
QUIET_SHARE = 0.05
FRESHNESS_S, TARGET_S = 10, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    warm_s: float
    """Of traffic, before its lags are counted."""
    seconds: float
    idle_s: float


FULL = Plan(warm_s=20, seconds=120, idle_s=20)
QUICK = Plan(warm_s=20, seconds=30, idle_s=8)


@dataclass(slots=True, kw_only=True)
class Measured:
    lags_s: list[float] = field(default_factory=list)
    sent: int = 0
    cpu_share: dict[str, float] = field(default_factory=dict)
    """CPU-seconds of the pipeline's processes for each second, by what went on."""


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder, lakestream.running(folder, pipeline=True) as server:
        asyncio.run(_measure(plan, folder, server, measured, console))
    return Outcome(sections=[_section(plan, measured)], figures=asdict(measured))


async def _measure(plan: Plan, folder: Path, server: Server, measured: Measured, console: Console) -> None:
    pipeline = await pipeline_pid(server)
    lags = await Lags.open(folder)
    await _quiet(pipeline)
    measured.cpu_share["no topic"] = await _cpu_share(pipeline, plan.idle_s)
    _create_topics(server.bootstrap)
    await lags.caught_up(TOPICS)
    await _quiet(pipeline)
    measured.cpu_share[f"{TOPICS} idle topics"] = await _cpu_share(pipeline, plan.idle_s)
    console.print(f"idle: {measured.cpu_share}", highlight=False)
    with Traffic(server.bootstrap) as traffic:
        await asyncio.sleep(plan.warm_s)
        before_s, started = cpu_s(pipeline), time.monotonic()
        while time.monotonic() < started + plan.seconds:
            await asyncio.sleep(1)
            measured.lags_s += await lags.now()
        measured.cpu_share[f"{ACTIVE} active of {TOPICS}"] = (cpu_s(pipeline) - before_s) / plan.seconds
    measured.sent = traffic.sent
    await lags.close()


async def pipeline_pid(server: Server) -> int:
    deadline = time.monotonic() + START_S_MAX
    while time.monotonic() < deadline:
        for pid in process_tree(server.pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"pipeline" in words:
                return pid
        await asyncio.sleep(0.5)
    raise RoundFailed("no pipeline came up")


async def _quiet(pipeline: int) -> None:
    """Until it has started, or done what there was to do."""
    deadline = time.monotonic() + START_S_MAX
    while await _cpu_share(pipeline, 2) > QUIET_SHARE:
        if time.monotonic() > deadline:
            raise RoundFailed(f"the pipeline did not come to rest within {START_S_MAX} s")


async def _cpu_share(pid: int, seconds: float) -> float:
    before_s = cpu_s(pid)
    await asyncio.sleep(seconds)
    return (cpu_s(pid) - before_s) / seconds


def _create_topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})
    for future in admin.create_topics([NewTopic(_name(at), 1, 1) for at in range(TOPICS)]).values():
        future.result(DRAIN_S_MAX)


def _name(at: int) -> str:
    return f"topic-{at:03d}"


class Lags:
    """The lags of all active topics, asked of the store that the server uses."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    @classmethod
    async def open(cls, folder: Path) -> "Lags":
        clock = SystemClock()
        ids = Ids(clock, SystemChance())
        return cls(await open_store(f"sqlite://{folder}/data/metadata.db", clock=clock, ids=ids))

    async def now(self) -> list[float]:
        """One for each active topic, in seconds."""
        owed = await self.owed()
        return owed + [0.0] * (ACTIVE - len(owed))

    async def owed(self) -> list[float]:
        """One for each topic that owes its table anything, in seconds."""
        now_ms = await self._store.now_ms()
        return [(now_ms - debt.oldest_ms) / 1e3 for debt in await self._store.jobs.debts()]

    async def caught_up(self, tables: int) -> None:
        """Until so many topics have a table, and none owes anything to it."""
        deadline = time.monotonic() + CAUGHT_UP_S_MAX
        while await self._store.jobs.topics_without_table() or await self._store.jobs.debts():
            if time.monotonic() > deadline:
                raise RoundFailed(f"{tables} topics did not have their tables within {CAUGHT_UP_S_MAX} s")
            await asyncio.sleep(1)

    async def close(self) -> None:
        await self._store.close()


class Traffic:
    """A producer in a thread of its own, between enter and exit."""

    def __init__(self, bootstrap: str) -> None:
        self.sent = 0
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 5})
        self._values = json_values(1000, 185)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Traffic":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if left := self._producer.flush(DRAIN_S_MAX):
            raise RoundFailed(f"{left} records were not acknowledged")

    def _run(self) -> None:
        pause_s = 1 / (ACTIVE * RECORDS_PER_SECOND)
        at_s = time.monotonic()
        while not self._stop.is_set():
            self._producer.produce(_name(self.sent % ACTIVE), self._values[self.sent % len(self._values)])
            self._producer.poll(0)
            self.sent += 1
            at_s += pause_s
            self._stop.wait(max(0.0, at_s - time.monotonic()))


def _section(plan: Plan, measured: Measured) -> Section:
    parts = [quantile(measured.lags_s, share) for share in (0.5, 0.99)]
    rows = [[f"table lag, {name}", f"{number(each)} s"] for name, each in zip(("p50", "p99"), parts, strict=True)]
    rows.append(["table lag, max", f"{number(max(measured.lags_s))} s"])
    rows += [[f"CPU of the pipeline, {what}", f"{share:.1%} of a core"] for what, share in measured.cpu_share.items()]
    return Section(
        name="table-lag",
        title="Table lag of many topics",
        note=(
            f"One pipeline, {TOPICS} topics, {ACTIVE} of them written to at {RECORDS_PER_SECOND} records a second each,"
            f" for {plan.seconds:.0f} s; freshness {FRESHNESS_S} s, {len(measured.lags_s):,} samples; broker, producer"
            f" and pipeline on the same {os.cpu_count()} cores, {today()}. The aim: p99 under {TARGET_S} s."
        ),
        columns=["", ""],
        rows=rows,
    )

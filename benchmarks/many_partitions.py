"""One record for each of 2,000 partitions at once: what a flush of many small batches costs.

    pipelined    librdkafka: a Produce request per partition, 2,000 of them on one connection
    one request  a single Produce request with 2,000 partitions, as the Java client would send it

Lakestream should gather them into few WAL objects and few metadata transactions, one of each for one request;
its /metrics say how many.
"""

import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass

from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from benchmarks.clients import RoundFailed, create_topic
from benchmarks.one_request import OneRequest
from benchmarks.peers.server import Server
from benchmarks.report import Outcome, Section, Spread, number
from benchmarks.side_by_side import side_by_side

TOPIC = "many_partitions"
PARTITIONS = 2_000
LINGER_MS = 200  # longer than queueing takes, so that every batch is ready at about the same moment
ACK_S_MAX = 60
COUNTED = {"PUTs": "lakestream_put_seconds_count", "commits": "lakestream_commit_seconds_count"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    rounds: int


FULL = Plan(rounds=5)
QUICK = Plan(rounds=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """One round: all partitions written and acknowledged."""

    server: str
    form: str
    seconds: float
    cpu_s: float
    counted: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A way to write one record to every partition; answers with the seconds it took."""

    server: Server
    form: str
    write_all: Callable[[], float]


def run(plan: Plan, console: Console, *, only: str | None = None) -> Outcome:
    with side_by_side(only=only) as running:
        bursts = _measure(running.servers, plan.rounds, console)
    return Outcome(sections=[_section(bursts)], figures={"bursts": [asdict(burst) for burst in bursts]})


def _measure(servers: Sequence[Server], rounds: int, console: Console) -> list[Burst]:
    """All clients are gone when this returns: the servers may stop."""
    with ExitStack() as stack:
        writers = [writer for server in servers for writer in _prepare(server, stack)]
        return _alternate(writers, rounds, console)


def _prepare(server: Server, stack: ExitStack) -> list[Writer]:
    """The topic is there and both ways of writing have been used once, so that everything is warm."""
    create_topic(server.bootstrap, TOPIC, PARTITIONS)
    producer = Producer({"bootstrap.servers": server.bootstrap, "acks": "all", "linger.ms": LINGER_MS})
    single = stack.enter_context(closing(OneRequest(server.bootstrap, TOPIC, PARTITIONS)))
    writers = [
        Writer(server=server, form="pipelined", write_all=lambda: _pipelined(producer)),
        Writer(server=server, form="one request", write_all=single.write),
    ]
    for writer in writers:
        writer.write_all()
    return writers


def _alternate(writers: Sequence[Writer], rounds: int, console: Console) -> list[Burst]:
    bursts: list[Burst] = []
    for number_of_round in range(rounds):
        for writer in writers:
            burst = _burst(writer)
            bursts.append(burst)
            told = f"{burst.seconds * 1e3:,.0f} ms, {burst.cpu_s:.2f} CPU-s {burst.counted or ''}"
            console.print(f"round {number_of_round + 1}, {burst.server}, {burst.form}: {told}", highlight=False)
    return bursts


def _burst(writer: Writer) -> Burst:
    counted, cpu_s = _counters(writer.server), writer.server.cpu_s()
    seconds = writer.write_all()
    spent_s = writer.server.cpu_s() - cpu_s
    grown = {name: value - counted[name] for name, value in _counters(writer.server).items()}
    return Burst(server=writer.server.name, form=writer.form, seconds=seconds, cpu_s=spent_s, counted=grown)


def _pipelined(producer: Producer) -> float:
    """Seconds from the end of the linger to the last acknowledgement."""
    failed: list[object] = []
    acknowledged = 0

    def delivered(error: object, _: object) -> None:
        nonlocal acknowledged
        acknowledged += error is None
        if error is not None:
            failed.append(error)

    started = time.perf_counter()
    for partition in range(PARTITIONS):
        producer.produce(TOPIC, b"v" * 100, partition=partition, on_delivery=delivered)
    # Not flush(): that cuts the linger short for what has been queued so far.
    while acknowledged + len(failed) < PARTITIONS and time.perf_counter() - started < ACK_S_MAX:
        producer.poll(0.01)
    if failed or acknowledged != PARTITIONS:
        raise RoundFailed(f"{acknowledged} of {PARTITIONS} were acknowledged, {len(failed)} refused: {failed[:1]}")
    return time.perf_counter() - started - LINGER_MS / 1e3


def _counters(server: Server) -> dict[str, float]:
    """PUTs and commits so far, from /metrics; none for a server without HTTP."""
    if server.http is None:
        return {}
    with urllib.request.urlopen(f"{server.http}/metrics", timeout=10) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    samples = [sample for family in families for sample in family.samples]
    return {label: sum(each.value for each in samples if each.name == name) for label, name in COUNTED.items()}


def _section(bursts: Sequence[Burst]) -> Section:
    kinds = sorted({(each.form, each.server) for each in bursts}, reverse=True)
    rows = []
    for form, server in kinds:
        mine = [each for each in bursts if (each.form, each.server) == (form, server)]
        counts = [[burst.counted[label] for burst in mine if label in burst.counted] for label in COUNTED]
        rows.append(
            [
                f"{form}, {server}",
                str(Spread.of([burst.seconds * 1e3 for burst in mine])),
                number(PARTITIONS / Spread.of([burst.seconds for burst in mine]).median),
                str(Spread.of([burst.cpu_s for burst in mine])),
                *(f"{min(each):.0f}-{max(each):.0f}" if each else "-" for each in counts),
            ]
        )
    return Section(
        name="many-partitions",
        title=f"One record to each of {PARTITIONS:,} partitions at once",
        note=f"{len(bursts) // len(kinds)} alternating rounds, acks=all, one producer: median [range].",
        columns=[
            "",
            "ms to the last ack",
            "partitions/s",
            "server CPU-s",
            *(f"{label} per round" for label in COUNTED),
        ],
        rows=rows,
    )

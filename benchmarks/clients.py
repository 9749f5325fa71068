"""librdkafka clients in processes of their own, all starting at one moment.

    produce(...)  2 processes, acks=all, 1 MiB batches   -> Moved(records, bytes, seconds)
    consume(...)  2 processes or 1, partitions assigned  -> Moved
    latencies_s(...)  one record at a time, each awaited -> seconds, sorted

The machine's cores are shared with the server, so a client that wastes CPU measures itself:
values are made before the clock starts, records are queued a thousand at a time, and what is
consumed is counted without a loop in Python.
"""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from queue import Empty
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.values import json_values

PROCESSES = 2
VALUES = 4096  # distinct values; more would only cost memory
CHUNK = 1000  # records queued by one call
START_S_MAX = 60
DRAIN_S_MAX = 60  # beyond the time given for producing or consuming: then the round has failed
QUEUE_RECORDS_MAX = 500_000
QUEUE_KIB_MAX = 128 << 10  # more than the server takes in a moment, little enough that the drain is short


class RoundFailed(Exception):
    """A client lost records or fell silent: a figure would be a lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a round sends: until `records` are sent or `seconds` are over, whichever comes first."""

    value_bytes: int
    codec: str
    partitions: int
    records: int
    seconds: float

    @property
    def name(self) -> str:
        size = f"{self.value_bytes // 1000} KB" if self.value_bytes >= 1000 else f"{self.value_bytes} B"
        return size if self.codec == "none" else f"{size} {self.codec}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    records: int
    bytes: int
    seconds: float

    @property
    def mb_s(self) -> float:
        return self.bytes / self.seconds / 1e6

    @property
    def records_s(self) -> float:
        return self.records / self.seconds


class Start:
    """A barrier that remembers when it opened; monotonic time is one clock for all processes of a machine."""

    def __init__(self, barrier: Barrier) -> None:
        self._barrier = barrier
        self.at_s = 0.0

    def wait(self) -> None:
        self._barrier.wait(START_S_MAX)
        self.at_s = time.monotonic()


def create_topic(
    bootstrap: str, topic: str, partitions: int, *, config: dict[str, str] | None = None, wait_s: float = 60
) -> None:
    """Creates it and waits until metadata shows a leader for every partition."""
    admin = AdminClient(_admin(bootstrap))
    for future in admin.create_topics([NewTopic(topic, partitions, 1, config=config or {})]).values():
        future.result(wait_s)
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        shown = admin.list_topics(timeout=wait_s).topics.get(topic)
        if shown and len(shown.partitions) == partitions and all(p.leader >= 0 for p in shown.partitions.values()):
            return
        time.sleep(0.05)
    raise RoundFailed(f"{topic} was created but did not become visible within {wait_s} s")


def delete_topic(bootstrap: str, topic: str) -> None:
    admin = AdminClient(_admin(bootstrap))
    for future in admin.delete_topics([topic]).values():
        future.result(30)


def produce(bootstrap: str, topic: str, load: Load) -> Moved:
    return _together(_produce, PROCESSES, load.seconds, bootstrap, topic, load)


def consume(bootstrap: str, topic: str, load: Load, produced: Moved, *, processes: int = PROCESSES) -> Moved:
    """Reads everything from the beginning; the round fails unless every record produced comes back."""
    consumed = _together(_consume, processes, load.seconds, bootstrap, topic, load, processes)
    if (consumed.records, consumed.bytes) != (produced.records, produced.bytes):
        raise RoundFailed(f"{produced} was acknowledged but {consumed} was read")
    return consumed


def latencies_s(bootstrap: str, topic: str, *, seconds: float, warm: int = 50) -> list[float]:
    """How long one record takes from send to acknowledgement with nothing else under way."""
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0})
    [value] = json_values(1, 1000)
    taken: list[float] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        started = time.perf_counter()
        producer.produce(topic, value)
        if producer.flush(DRAIN_S_MAX):
            raise RoundFailed("a single record was not acknowledged")
        taken.append(time.perf_counter() - started)
    return sorted(taken[min(warm, len(taken) // 4) :])


def _admin(bootstrap: str) -> dict[str, Any]:
    # Only warnings: at its end a librdkafka handle notes every event that nobody has asked for.
    return {"bootstrap.servers": bootstrap, "log_level": 4}


def _produce(start: Start, which: int, bootstrap: str, topic: str, load: Load) -> tuple[int, int]:
    failed: list[KafkaError] = []
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "compression.type": load.codec,
            "linger.ms": 5,
            "batch.size": 1 << 20,
            "batch.num.messages": 1_000_000,
            "queue.buffering.max.messages": QUEUE_RECORDS_MAX,
            "queue.buffering.max.kbytes": QUEUE_KIB_MAX,
            "delivery.report.only.error": True,
            "on_delivery": lambda error, _: failed.append(error),
        }
    )
    values = json_values(VALUES, load.value_bytes, seed=which)
    chunks = [[{"value": value} for value in values[at : at + CHUNK]] for at in range(0, VALUES - CHUNK + 1, CHUNK)]
    producer.list_topics(topic, timeout=START_S_MAX)
    target = load.records // PROCESSES
    sent = turn = 0
    start.wait()
    deadline = time.monotonic() + load.seconds
    while sent < target and time.monotonic() < deadline:
        taken = producer.produce_batch(topic, chunks[turn % len(chunks)])
        sent, turn = sent + taken, turn + 1
        producer.poll(0 if taken == CHUNK else 0.005)  # a short answer means that the queue is full
    left = producer.flush(DRAIN_S_MAX)
    if left or failed:
        raise RoundFailed(f"{left} records were not acknowledged and {len(failed)} were refused: {failed[:1]}")
    return sent, sent * load.value_bytes


def _consume(start: Start, which: int, bootstrap: str, topic: str, load: Load, processes: int) -> tuple[int, int]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 4 << 20,
            "queued.max.messages.kbytes": 256 << 10,
            "queued.min.messages": QUEUE_RECORDS_MAX,
        }
    )
    mine = [TopicPartition(topic, partition, 0) for partition in range(which, load.partitions, processes)]
    wanted = sum(consumer.get_watermark_offsets(each, timeout=START_S_MAX)[1] for each in mine)
    records = size_bytes = 0
    start.wait()
    consumer.assign(mine)
    deadline = time.monotonic() + DRAIN_S_MAX
    while records < wanted and time.monotonic() < deadline:
        arrived: list[Message] = consumer.consume(10_000, 0.5)
        records += len(arrived)
        size_bytes += sum(map(len, arrived))
    consumer.close()
    return records, size_bytes


def _together(work: Callable[..., tuple[int, int]], processes: int, seconds: float, *arguments: Any) -> Moved:
    """Runs the work in every process; the clock runs from the common start to the last end."""
    context = multiprocessing.get_context("spawn")
    barrier, ended = context.Barrier(processes), context.Queue()
    running = [
        context.Process(target=_report, args=(ended, work, barrier, which, *arguments)) for which in range(processes)
    ]
    for process in running:
        process.start()
    try:
        reports = [ended.get(timeout=START_S_MAX + seconds + 2 * DRAIN_S_MAX) for _ in running]
    except Empty:
        raise RoundFailed("a client process fell silent") from None
    finally:
        for process in running:
            process.join(10)
            if process.is_alive():
                process.kill()
    return _moved(reports)


def _report(ended: Any, work: Callable[..., tuple[int, int]], barrier: Barrier, which: int, *arguments: Any) -> None:
    start = Start(barrier)
    try:
        records, size_bytes = work(start, which, *arguments)
        ended.put((start.at_s, time.monotonic(), records, size_bytes, None))
    except Exception as error:
        ended.put((0.0, 0.0, 0, 0, f"{type(error).__name__}: {error}"))


def _moved(reports: Sequence[tuple[float, float, int, int, str | None]]) -> Moved:
    errors = [report[4] for report in reports if report[4]]
    if errors:
        raise RoundFailed("; ".join(errors))
    seconds = max(report[1] for report in reports) - min(report[0] for report in reports)
    return Moved(
        records=sum(report[2] for report in reports), bytes=sum(report[3] for report in reports), seconds=seconds
    )

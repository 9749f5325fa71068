"""A consumer group of eight librdkafka processes that reads a topic to its end.

all subscribe -> each has its share, and holds still -> all read at once -> the last record
"""

import multiprocessing
import time
from queue import Empty
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from benchmarks.clients import START_S_MAX, Moved, RoundFailed

READERS, READ_PARTITIONS = 8, 16


def read_as_group(bootstrap: str, topic: str, produced: Moved) -> Moved:
    """The clock runs from the moment at which all members have their share to the last record."""
    context = multiprocessing.get_context("spawn")
    shares, seen, reports = context.Array("i", READERS), context.Value("q", 0), context.Queue()
    running = [
        context.Process(target=_member, args=(bootstrap, topic, which, produced.records, shares, seen, reports))
        for which in range(READERS)
    ]
    for process in running:
        process.start()
    try:
        ended = [reports.get(timeout=2 * START_S_MAX) for _ in running]
    except Empty:
        raise RoundFailed("a member of the group fell silent") from None
    finally:
        for process in running:
            process.join(10)
            if process.is_alive():
                process.kill()
    records, size_bytes = sum(each[0] for each in ended), sum(each[1] for each in ended)
    if (records, size_bytes) != (produced.records, produced.bytes):
        raise RoundFailed(f"{produced} was acknowledged but the group read {records} records, {size_bytes} bytes")
    seconds = max(each[3] for each in ended) - min(each[2] for each in ended)
    return Moved(records=records, bytes=size_bytes, seconds=seconds)


def _member(bootstrap: str, topic: str, which: int, wanted: int, shares: Any, seen: Any, reports: Any) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"readers-{topic}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": "range",
            "fetch.message.max.bytes": 4 << 20,
            "queued.max.messages.kbytes": 64 << 10,
        }
    )

    def hold(_: Consumer, share: list[TopicPartition]) -> None:
        """Nothing is read before everyone is there: what a rebalance takes away would be read twice."""
        consumer.assign(share)
        consumer.pause(share)
        shares[which] = len(share)

    consumer.subscribe([topic], on_assign=hold)
    records = size_bytes = 0
    deadline = time.monotonic() + START_S_MAX
    while min(shares[:]) == 0 or sum(shares[:]) != READ_PARTITIONS:
        consumer.poll(0.05)
        if time.monotonic() > deadline:
            break
    first_s = last_s = time.monotonic()
    consumer.resume(consumer.assignment())
    while seen.value < wanted and time.monotonic() < deadline:
        arrived = consumer.consume(10_000, 0.2)
        if arrived:
            last_s = time.monotonic()
            records += len(arrived)
            size_bytes += sum(map(len, arrived))
            with seen.get_lock():
                seen.value += len(arrived)
    consumer.close()
    reports.put((records, size_bytes, first_s, last_s))

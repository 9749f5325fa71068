"""A steady load: one producer in a thread of its own that sends so many bytes a second to one topic."""

import threading
import time

from confluent_kafka import Producer

from benchmarks.clients import DRAIN_S_MAX, RoundFailed
from benchmarks.values import json_values

VALUE_BYTES = 1000
DIFFERENT_VALUES = 20_000
BURST_S = 0.01
"""The producer sleeps so long between bursts: a sleep for each record would be too coarse."""


class SteadyLoad:
    """It sends between enter and exit."""

    def __init__(self, bootstrap: str, topic: str, bytes_per_s: int) -> None:
        self.sent = 0
        self._topic = topic
        self._records_per_s = bytes_per_s / VALUE_BYTES
        self._values = json_values(DIFFERENT_VALUES, VALUE_BYTES)
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 20, "compression.type": "lz4"}
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "SteadyLoad":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if left := self._producer.flush(DRAIN_S_MAX):
            raise RoundFailed(f"{left} records were not acknowledged")

    def _run(self) -> None:
        started_s = time.monotonic()
        while not self._stop.wait(BURST_S):
            owed = int((time.monotonic() - started_s) * self._records_per_s) - self.sent
            for _ in range(owed):
                self._producer.produce(self._topic, self._values[self.sent % DIFFERENT_VALUES])
                self.sent += 1
            self._producer.poll(0)

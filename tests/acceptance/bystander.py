"""A client that works while bad things happen to others: it must notice nothing.

    with Bystander(bootstrap) as bystander:
        ... something terrible ...
        bystander.works_on()

An idempotent librdkafka producer writes number after number, a consumer reads them as they come. In the end
every number was acknowledged and read once, in order, and neither client had an error to report.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import confluent_kafka as ck

PAUSE_SECONDS = 0.01
PATIENCE_SECONDS = 30
"""For a machine that is busy with other things. Nothing is measured."""


class Bystander:
    def __init__(self, bootstrap: str, topic: str, *, notices_errors: bool = True) -> None:
        self.errors: list[str] = []
        """What librdkafka had to say to it: lost connections, brokers that are down."""
        self.refused: list[str] = []
        self.acknowledged: list[int] = []
        self.read: list[int] = []
        self._topic = topic
        self._notices_errors = notices_errors
        shared = {"bootstrap.servers": bootstrap, "error_cb": self._error, "log_level": 0}
        self._producer = ck.Producer(shared | {"enable.idempotence": True, "linger.ms": 1})
        self._consumer = ck.Consumer(
            shared | {"group.id": "bystander", "enable.auto.commit": False, "fetch.wait.max.ms": 100}
        )
        self._stop = threading.Event()
        self._working = [
            threading.Thread(target=work, name=f"bystander-{work.__name__}", daemon=True)
            for work in (self._write, self._read)
        ]

    def works_on(self, records: int = 10) -> None:
        """Returns once so many more records have been acknowledged and read. Fails if they are not."""
        acknowledged, read = len(self.acknowledged) + records, len(self.read) + records
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.acknowledged) < acknowledged or len(self.read) < read:
            assert time.monotonic() < deadline, (
                f"the bystander is stuck: {len(self.acknowledged)} of {acknowledged} acknowledged, "
                f"{len(self.read)} of {read} read; {self.refused + self.errors}"
            )
            time.sleep(PAUSE_SECONDS)

    def start(self) -> None:
        self._producer.list_topics(self._topic, PATIENCE_SECONDS)  # creates it
        self._consumer.assign([ck.TopicPartition(self._topic, 0, 0)])
        for thread in self._working:
            thread.start()
        self.works_on()

    def stop(self) -> None:
        """Everything acknowledged was read, once and in order; with `notices_errors`, nothing else happened."""
        self.works_on()
        self._stop.set()
        for thread in self._working:
            thread.join(PATIENCE_SECONDS)
        assert self._producer.flush(PATIENCE_SECONDS) == 0
        self._read_until(max(self.acknowledged) + 1)
        self._producer.close()
        self._consumer.close()
        assert self.refused == []
        assert self.acknowledged == list(range(len(self.acknowledged)))
        assert self.read == self.acknowledged
        if self._notices_errors:
            assert self.errors == []

    def _write(self) -> None:
        for number in count():
            if self._stop.is_set():
                return
            self._producer.produce(self._topic, str(number), partition=0, on_delivery=self._delivered)
            self._producer.poll(PAUSE_SECONDS)

    def _read(self) -> None:
        while not self._stop.is_set():
            self._take(self._consumer.consume(100, 0.1))

    def _read_until(self, end: int) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.read) < end and time.monotonic() < deadline:
            self._take(self._consumer.consume(100, 0.1))

    def _take(self, messages: list[ck.Message]) -> None:
        for message in messages:
            if (error := message.error()) is not None:
                self.errors.append(f"consumer: {error.str()}")
            else:
                value = message.value()
                assert value is not None
                self.read.append(int(value))

    def _delivered(self, error: ck.KafkaError | None, message: ck.Message) -> None:
        if error is not None:
            self.refused.append(error.str())
        else:
            value = message.value()
            assert value is not None
            self.acknowledged.append(int(value))

    def _error(self, error: ck.KafkaError) -> None:
        self.errors.append(error.str())


@contextmanager
def bystander(bootstrap: str, topic: str = "bystander", *, notices_errors: bool = True) -> Iterator[Bystander]:
    """One that works for as long as the block lasts. Each needs a topic of its own."""
    working = Bystander(bootstrap, topic, notices_errors=notices_errors)
    working.start()
    yield working
    working.stop()

"""One Produce request that holds a batch for every partition of a topic, as the Java client sends them.

librdkafka sends a request per partition; written by hand, version 3, a single request shows what one flush costs.
"""

import socket
import struct
import time

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from benchmarks.clients import RoundFailed

PRODUCE, VERSION = 0, 3
ACKS_ALL = -1
ANSWER_S_MAX = 60
ANSWERED = struct.Struct(">ihqq")  # partition, error, base offset, append time


class OneRequest:
    """A connection that writes one record to each of the topic's partitions with every call."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._connection = socket.create_connection((host, int(port)), ANSWER_S_MAX)
        self._stream = self._connection.makefile("rb")
        self._name = topic.encode()
        self._partitions = partitions

    def write(self) -> float:
        """Seconds from sending to the whole answer."""
        request = self._request()
        started = time.perf_counter()
        self._connection.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", self._stream.read(4))
        answer = self._stream.read(length)
        seconds = time.perf_counter() - started
        self._check(answer)
        return seconds

    def close(self) -> None:
        self._stream.close()
        self._connection.close()

    def _request(self) -> bytes:
        batch = _batch()
        head = struct.pack(">hhihhhi", PRODUCE, VERSION, 1, -1, -1, ACKS_ALL, ANSWER_S_MAX * 1000)
        topic = struct.pack(">ih", 1, len(self._name)) + self._name + struct.pack(">i", self._partitions)
        entries = [struct.pack(">ii", index, len(batch)) + batch for index in range(self._partitions)]
        return b"".join([head, topic, *entries])

    def _check(self, answer: bytes) -> None:
        at = 4 + 4 + 2 + len(self._name) + 4  # correlation id, topics, name, partitions
        errors = [ANSWERED.unpack_from(answer, at + index * ANSWERED.size)[1] for index in range(self._partitions)]
        if any(errors):
            raise RoundFailed(f"{sum(map(bool, errors))} partitions refused their batch, with codes {set(errors)}")


def _batch() -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1000,
    )
    builder.append(0, timestamp=int(time.time() * 1000), key=None, value=b"v" * 100, headers=[])
    return bytes(builder.build())

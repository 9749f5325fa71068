"""A producer that is as patient as a client library: it sends a refused batch again while the error is retriable."""

import time

from tests.integration.kafka.wire_client import WireClient

NOT_LEADER, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR = 6, 7, 56
PATIENCE_SECONDS = 30


def produce_until_stored(client: WireClient, topic: str, records: bytes) -> int:
    """Returns the offset. A lease as short as in these tests may lapse for a moment on a busy machine: the broker then
    answers NOT_LEADER."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (answer := client.produce(topic, records)).error_code.value != 0:
        assert answer.error_code.value in (NOT_LEADER, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR), answer
        assert time.monotonic() < deadline, f"producing never worked again: {answer}"
        time.sleep(0.1)
    return int(answer.base_offset)

"""Requests to the handlers of serving.py, by which a test steers them."""

import struct

from lakestream.protocol.kafka.wire import messages
from tests.unit.connection.frames import request_frame
from tests.unit.connection.serving import FETCH, PRODUCE


def produce(index: int, *, records: bytes = b"r", acks: int = -1, mode: int = 0) -> bytes:
    """A produce request with `index` as its correlation id; for `mode` see start_produce."""
    api = messages.api(PRODUCE)
    data = api.request.PartitionProduceData(index=index, records=records)
    topic = api.request.TopicProduceData(name="t", partition_data=[data])
    return request_frame(PRODUCE, 9, api.Request(acks=acks, timeout=mode, topic_data=[topic]), correlation_id=index)


def fetch(correlation_id: int) -> bytes:
    return request_frame(FETCH, 12, messages.api(FETCH).Request(), correlation_id=correlation_id)


def unreadable() -> bytes:
    """A produce request whose header is sound and whose body ends too early."""
    whole = produce(0)
    return struct.pack(">i", len(whole) - 4 - 10) + whole[4:-10]

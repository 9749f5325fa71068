"""Requests as a client would put them on the wire, and answers as it would read them."""

import struct
from typing import Any

from lakestream.protocol.kafka.wire import messages

FLEXIBLE_HEADER = 2


def request_frame(
    key: int, version: int, body: Any, *, correlation_id: int = 1, client_id: str | None = "test", tags: bytes = b"\0"
) -> bytes:
    codec = messages.request(key, version)
    out: list[bytes | bytearray | memoryview] = []
    codec.encode(body, out)
    name = b"" if client_id is None else client_id.encode()
    header = struct.pack(">hhih", key, version, correlation_id, -1 if client_id is None else len(name)) + name
    if codec.message.header_version == FLEXIBLE_HEADER:
        header += tags
    return framed(header + b"".join(out))


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def produce_frame(
    records: bytes, *, version: int = 9, acks: int = -1, correlation_id: int = 1, partition: int = 0
) -> bytes:
    api = messages.api(0)
    data = api.request.PartitionProduceData(index=partition, records=records)
    body = api.Request(
        acks=acks, timeout=1000, topic_data=[api.request.TopicProduceData(name="t", partition_data=[data])]
    )
    return request_frame(0, version, body, correlation_id=correlation_id)


def heartbeat_frame(correlation_id: int, *, group: str = "g", version: int = 4) -> bytes:
    return request_frame(12, version, messages.api(12).Request(group_id=group), correlation_id=correlation_id)


def responses(data: bytes) -> list[bytes]:
    """The payloads of all complete frames; what is left over is an error."""
    payloads = []
    while data:
        (length,) = struct.unpack_from(">i", data)
        assert len(data) >= 4 + length, "half a response"
        payloads.append(data[4 : 4 + length])
        data = data[4 + length :]
    return payloads


def correlation_ids(data: bytes) -> list[int]:
    return [struct.unpack_from(">i", payload)[0] for payload in responses(data)]


def decoded_response(key: int, version: int, payload: bytes) -> Any:
    codec = messages.response(key, version)
    return codec.decode(memoryview(payload), 4 + (1 if codec.message.header_version > 0 else 0))[0]

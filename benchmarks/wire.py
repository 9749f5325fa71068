"""A Kafka client of bare frames, for measurements in which a whole client library would measure itself.

    connection = await Connection.open(address)
    answer = await connection.ask(12, 4, messages.api(12).Request(...))

One request at a time on each connection.
"""

import asyncio
import struct
from typing import Any

from lakestream.protocol.kafka.wire import messages

FLEXIBLE_REQUEST_HEADER = 2
FLEXIBLE_RESPONSE_HEADER = 1
CORRELATION_BYTES = 4
ANSWER_S_MAX = 60
CLIENT = b"benchmark"


def frame(key: int, version: int, body: Any) -> bytes:
    """A request as it is sent. Its correlation id is always the same: answers come in order."""
    codec = messages.request(key, version)
    out: list[Any] = []
    codec.encode(body, out)
    header = struct.pack(">hhih", key, version, 1, len(CLIENT)) + CLIENT
    if codec.message.header_version == FLEXIBLE_REQUEST_HEADER:
        header += b"\0"
    payload = header + b"".join(out)
    return struct.pack(">i", len(payload)) + payload


def answer_of(key: int, version: int, payload: bytes) -> Any:
    codec = messages.response(key, version)
    flexible = codec.message.header_version == FLEXIBLE_RESPONSE_HEADER
    return codec.decode(memoryview(payload), CORRELATION_BYTES + int(flexible))[0]


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, address: str) -> "Connection":
        host, port = address.rsplit(":", 1)
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, key: int, version: int, body: Any) -> Any:
        return answer_of(key, version, await self.exchange(frame(key, version, body)))

    async def exchange(self, request: bytes) -> bytes:
        """The answer as it came, correlation id and all."""
        self._writer.write(request)
        async with asyncio.timeout(ANSWER_S_MAX):
            (length,) = struct.unpack(">i", await self._reader.readexactly(4))
            return await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()

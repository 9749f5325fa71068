"""A client that sends one damaged frame after the other, and takes a new connection whenever the old one is closed."""

import asyncio
import struct
from collections.abc import Iterable

PATIENCE_S = 0.03
"""Some damaged requests ask for a long wait, or for none at all: nobody waits for their answers."""


class _Wire(asyncio.Protocol):
    """Says when something has come, or the end."""

    def __init__(self) -> None:
        self.closed = False
        self.news = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.news.set()


class Sent:
    """How many frames have been sent, by all: the clock of the probes."""

    def __init__(self) -> None:
        self.frames = 0


async def throw(frames: Iterable[bytes], host: str, port: int, sent: Sent) -> None:
    loop = asyncio.get_running_loop()
    transport, wire = await loop.create_connection(_Wire, host, port)
    for frame in frames:
        if wire.closed:
            transport, wire = await loop.create_connection(_Wire, host, port)
        wire.news.clear()
        transport.write(frame)
        sent.frames += 1
        try:
            await asyncio.wait_for(wire.news.wait(), PATIENCE_S)
        except TimeoutError:
            transport.abort()
            wire.closed = True
    transport.abort()


class Frames:
    """Requests one after the other, over a connection of one's own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def call(self, frame: bytes) -> bytes:
        self._writer.write(frame)
        (length,) = struct.unpack(">i", await self._reader.readexactly(4))
        return await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.transport.abort()

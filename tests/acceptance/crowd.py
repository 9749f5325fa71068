"""A crowd that storms one group: thousands of members from one process, many on each connection, requests pipelined.

connections -> every member's request is written, then every answer is read, in order -> answers by member
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from kio.index import load_entity_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from kio.static.constants import EntityType

from tests.integration.kafka.wire_client import request_frame

ANSWER_SECONDS_MAX = 120

Ask = Callable[[int], Any]
"""The request body of a member by its number."""


class Crowd:
    def __init__(self, streams: Sequence[tuple[asyncio.StreamReader, asyncio.StreamWriter]]) -> None:
        self._streams = streams

    async def ask(self, key: int, version: int, members: Iterable[int], body: Ask) -> dict[int, Any]:
        """Everyone at once; the answers by member."""
        lanes = _dealt(list(members), len(self._streams))
        asked = [_ask_all(*stream, key, version, lane, body) for stream, lane in zip(self._streams, lanes, strict=True)]
        answers: dict[int, Any] = {}
        for one in await asyncio.wait_for(asyncio.gather(*asked), ANSWER_SECONDS_MAX):
            answers |= one
        return answers


@asynccontextmanager
async def crowd(address: str, connections: int) -> AsyncIterator[Crowd]:
    streams = [await _connect(address) for _ in range(connections)]
    try:
        yield Crowd(streams)
    finally:
        for _, writer in streams:
            writer.close()


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = address.rsplit(":", 1)
    return await asyncio.open_connection(host, int(port))


async def _ask_all(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    key: int,
    version: int,
    members: Sequence[int],
    body: Ask,
) -> dict[int, Any]:
    for member in members:
        writer.write(request_frame(key, version, body(member), correlation_id=member, client_id="crowd"))
    await writer.drain()
    read = _reader(key, version)
    return {member: read(await _frame(reader)) for member in members}


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


def _reader(key: int, version: int) -> Callable[[bytes], Any]:
    cls = load_entity_schema(api_key_map[key], version, EntityType.response)
    read_header, read_body = entity_reader(cls.__header_schema__), entity_reader(cls)  # type: ignore[attr-defined]

    def read(payload: bytes) -> Any:
        _, at = read_header(payload, 0)
        return read_body(payload, at)[0]

    return read


def _dealt(members: Sequence[int], lanes: int) -> Iterator[Sequence[int]]:
    yield from (members[lane::lanes] for lane in range(lanes))

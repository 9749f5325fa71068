"""OffsetCommits a second: clients that each commit one offset, await the answer, and commit the next.

Each client has a connection and a group of its own, as independent applications do. Requests are made beforehand and
answers compared as bytes, so that the clients' part is small. Two requests take turns: an offset that is committed
again within a millisecond changes nothing, and what changes nothing need not be written.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.clients import RoundFailed
from benchmarks.rebalance import await_coordinator
from benchmarks.wire import CORRELATION_BYTES, Connection, answer_of, frame
from lakestream.protocol.kafka.wire import messages

OFFSET_COMMIT, VERSION = 8, 8
NONE = 0
OFFSETS = (42, 43)


async def commits_per_s(address: str, topic: str, clients: int, seconds: float, label: str) -> float:
    groups = [f"{label}-{number}" for number in range(clients)]
    for group in groups[:1]:
        await await_coordinator(address, group)
    connections = [await Connection.open(address) for _ in groups]
    requests = [[frame(OFFSET_COMMIT, VERSION, _commit(group, topic, each)) for each in OFFSETS] for group in groups]
    expected = [await _first(connection, first) for connection, (first, _) in zip(connections, requests, strict=True)]
    started = time.perf_counter()
    counts = await asyncio.gather(
        *(_commit_on(*each, started + seconds) for each in zip(connections, requests, expected, strict=True))
    )
    taken_s = time.perf_counter() - started
    for connection in connections:
        connection.close()
    return sum(counts) / taken_s


async def _first(connection: Connection, request: bytes) -> bytes:
    """What the answer to a commit that succeeded looks like. Kafka may load the group's partition first."""
    for _ in range(100):
        payload = await connection.exchange(request)
        answer = answer_of(OFFSET_COMMIT, VERSION, payload)
        if answer.topics[0].partitions[0].error_code == NONE:
            return payload[CORRELATION_BYTES:]
        await asyncio.sleep(0.1)
    raise RoundFailed(f"an offset could not be committed: {answer}")


async def _commit_on(connection: Connection, requests: Sequence[bytes], expected: bytes, until: float) -> int:
    count = 0
    while time.perf_counter() < until:
        if (await connection.exchange(requests[count % 2]))[CORRELATION_BYTES:] != expected:
            raise RoundFailed("a commit was refused")
        count += 1
    return count


def _commit(group: str, topic: str, offset: int) -> Any:
    api = messages.api(OFFSET_COMMIT)
    part = api.request.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_leader_epoch=-1, committed_metadata=""
    )
    asked = api.request.OffsetCommitRequestTopic(name=topic, partitions=[part])
    return api.Request(group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=[asked])

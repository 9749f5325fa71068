"""One round: a broker of its own, hostile clients, a probe beside them, and what must be true afterwards."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import uvloop

from lakestream.broker.broker import BrokerLimits
from lakestream.broker.groups.limits import GroupLimits
from lakestream.protocol.kafka.server import KafkaServer
from lakestream.testing.local import HOST, LocalLakestream

from . import corpus, probe
from .faults import Faults, watching
from .hostile import Sent, throw
from .mutate import damaged_frame

CLIENTS = 8
FRAMES_PER_WAIT_MAX = 2_000
"""A record of the probe must come through before so many hostile frames have been sent."""
CHECKS_MAX = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOutcome:
    seed: int
    frames: int
    probed_records: int
    worst_wait_frames: int
    faults: list[str]


def run_round(seed: int, frames: int, *, well_formed_share: float = 0.0) -> RoundOutcome:
    """The same seed sends the same frames on each connection; only their interleaving differs."""
    with watching() as faults, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_round(seed, frames, well_formed_share, faults))


async def _round(seed: int, frames: int, share: float, faults: Faults) -> RoundOutcome:
    asyncio.get_running_loop().set_exception_handler(faults.see_from_loop)
    limits = BrokerLimits(groups=GroupLimits(initial_rebalance_delay_ms=0))
    sent = Sent()
    async with LocalLakestream(limits=limits) as local:
        (server,) = local.servers
        payloads = await asyncio.to_thread(corpus.payloads, local.addresses[0])
        await asyncio.to_thread(_create_probed_topic, local.addresses[0])
        beside = await probe.Probe.connect(HOST, server.port, sent)
        probing = asyncio.create_task(beside.run())
        storms = [
            throw(_frames(seed, client, frames, share, payloads), HOST, server.port, sent) for client in range(CLIENTS)
        ]
        await asyncio.gather(*storms)
        if probing.done():
            probing.result()
        probing.cancel()
        with suppress(asyncio.CancelledError):
            await probing
        beside.close()
        await _all_given_back(server, faults)
    if beside.worst_wait > FRAMES_PER_WAIT_MAX:
        faults.found.append(f"the probe waited while {beside.worst_wait} frames were sent")
    if not beside.records:
        faults.found.append("the probe got no record through")
    return RoundOutcome(
        seed=seed,
        frames=sent.frames,
        probed_records=beside.records,
        worst_wait_frames=beside.worst_wait,
        faults=faults.found,
    )


def _frames(seed: int, client: int, frames: int, share: float, payloads: list[bytes]) -> Iterator[bytes]:
    chance = Random(f"{seed} {client}")
    for _ in range(frames // CLIENTS):
        yield damaged_frame(chance, payloads, well_formed_share=share)


def _create_probed_topic(address: str) -> None:
    with corpus.WireClient(address) as client:
        client.create_topic(probe.TOPIC)


async def _all_given_back(server: KafkaServer, faults: Faults) -> None:
    for _ in range(CHECKS_MAX):
        if not server.connections and not server.inflight_bytes:
            return
        await asyncio.sleep(0.005)
    faults.found.append(f"{server.connections} connections and {server.inflight_bytes} bytes are left")

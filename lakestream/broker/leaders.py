"""Chooses the live broker that clients are told to use for a partition or a group. There are no real leaders.

Any broker serves any partition. Naming one by rendezvous hashing keeps a partition's readers and writers together,
which is good for caches, and moves only a dead broker's share. Clients that name their zone (`zone=`, `az=`, `rack=` in
the client id) are sent to live brokers of that zone, if there are any.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from lakestream.model.broker import BrokerId, LiveBroker
from lakestream.model.topic import TopicId

_ZONE = re.compile(r"(?:^|[ ,;|])(?:zone|az|rack|ws_az|warpstream_az|diskless_az)=([^=,;| ]+)")


def zone_of_client(client_id: str | None) -> str | None:
    """The zone that a client id names, or None."""
    if not client_id or "=" not in client_id:
        return None
    found = _ZONE.search(client_id)
    return found.group(1) if found else None


def near(brokers: Sequence[LiveBroker], zone: str | None) -> Sequence[LiveBroker]:
    """The brokers of the zone; all brokers if the zone has none, since being served is better than being near."""
    return [broker for broker in brokers if broker.rack == zone] or brokers if zone is not None else brokers


def choose(brokers: Sequence[LiveBroker], key: bytes) -> LiveBroker:
    """The broker with the greatest hash for `key`. All brokers that see the same list agree."""
    return max(brokers, key=lambda broker: _weight(key, broker.id))


@lru_cache(maxsize=1_000)
def leader_ids(topic: TopicId, partitions: int, brokers: tuple[BrokerId, ...]) -> tuple[BrokerId, ...]:
    """The broker named for each partition of a topic. Cached: clients refresh often, brokers come and go seldom."""
    return tuple(
        max(brokers, key=lambda broker: _weight(topic + index.to_bytes(4, "big"), broker))
        for index in range(partitions)
    )


@lru_cache(maxsize=200_000)
def _weight(key: bytes, broker_id: int) -> bytes:
    return blake2b(key, digest_size=8, salt=broker_id.to_bytes(8, "big")).digest()

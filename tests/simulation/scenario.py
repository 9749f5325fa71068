"""What a seed asks for: which faults, how often, and what traffic runs through them.

A mix gives the run its character; the seed varies the rest, so no two runs are alike.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lakestream.broker.broker import BrokerLimits
from lakestream.storage.garbage.duties import GarbageLimits
from lakestream.storage.wal.flusher import WalLimits

from .weather import Rates

GRACE_MS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    mix: str
    seconds: float
    brokers: int
    topics: Mapping[str, Mapping[str, str]]
    """Configs by name."""
    partitions: int
    idempotent_producers: int
    plain_producers: int
    followers: int
    batch_seconds: float
    """A stream makes a batch about this often."""
    records_max: int
    value_bytes_max: int
    shuffled: bool
    """Whether what is ready at one moment runs in random order, or in asyncio's."""
    limits: BrokerLimits
    store: Rates = field(default_factory=Rates)
    objects: Rates = field(default_factory=Rates)
    connection_loss: float = 0.0
    delay_seconds_max: float = 0.01
    move_chance: float = 0.02
    """How often a client goes to another broker for no reason."""
    kill_seconds: float | None = None
    drain_seconds: float | None = None
    freeze_seconds: float | None = None
    cut_seconds: float | None = None
    jump_seconds: float | None = None
    administer_seconds: float | None = None


def scenario_of(seed: int) -> Scenario:
    rng = random.Random(f"{seed} scenario")
    mix = sorted(_MIXES)[seed % len(_MIXES)]
    return _MIXES[mix](_base(mix, rng), rng)


def seeds_of(mix: str, count: int) -> list[int]:
    """The first seeds that give this mix."""
    first = sorted(_MIXES).index(mix)
    return [first + round * len(_MIXES) for round in range(count)]


def _base(mix: str, rng: random.Random) -> Scenario:
    return Scenario(
        mix=mix,
        seconds=rng.uniform(8, 18),
        brokers=rng.choice([1, 2, 2, 3]),
        topics={f"t{number}": _topic_config(rng) for number in range(rng.choice([1, 2]))},
        partitions=rng.choice([1, 2, 3]),
        idempotent_producers=rng.choice([1, 2, 2]),
        plain_producers=rng.choice([0, 1, 1]),
        followers=rng.choice([1, 2]),
        batch_seconds=rng.choice([0.1, 0.2, 0.4]),
        records_max=rng.choice([1, 3, 20]),
        value_bytes_max=rng.choice([10, 100]),
        shuffled=rng.random() < 0.7,
        limits=_limits(rng),
        delay_seconds_max=rng.choice([0.001, 0.02, 0.3]),
    )


def _topic_config(rng: random.Random) -> dict[str, str]:
    config = {"message.timestamp.after.max.ms": str(2**62)}
    if rng.random() < 0.2:
        config["message.timestamp.type"] = "LogAppendTime"
    if rng.random() < 0.2:
        config["retention.ms"] = rng.choice(["3000", "10000"])
    if rng.random() < 0.2:
        config["retention.bytes"] = rng.choice(["0", "2000", "20000"])
    return config


def _limits(rng: random.Random) -> BrokerLimits:
    return BrokerLimits(
        lease_ms=rng.choice([3_000, 3_000, 10_000]),
        cache_bytes=rng.choice([0, 2_000, 1_000_000]),
        wal=WalLimits(
            segment_bytes=rng.choice([600, 5_000, 1_000_000]),
            linger_seconds=rng.choice([0.005, 0.1, 0.25]),
            puts_per_second=rng.choice([4.0, 50.0]),
            upload_seconds_max=rng.choice([2.0, 6.0]),
            commit_seconds_max=rng.choice([0.5, 2.0, 6.0]),
            park_seconds_max=rng.choice([0.3, 2.0]),
        ),
        garbage=GarbageLimits(grace_ms=GRACE_MS, retention_seconds=2.0, delete_seconds=1.5, sweep_seconds=4.0),
    )


# --- the mixes ---------------------------------------------------------------------------------------

_LOSSY = Rates(refused=0.04, lost=0.05, late=0.03, slow=0.05)
_ROUGH = Rates(refused=0.02, lost=0.02, late=0.01, slow=0.03, crash=0.001)


def _quiet(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, administer_seconds=5.0, drain_seconds=8.0)


def _storm(base: Scenario, rng: random.Random) -> Scenario:
    return replace(
        base,
        brokers=3,
        store=replace(_ROUGH, crash=0.002),
        objects=replace(_ROUGH, crash=0.002),
        connection_loss=0.01,
        kill_seconds=6.0,
        drain_seconds=6.0,
        freeze_seconds=10.0,
        cut_seconds=10.0,
        jump_seconds=10.0,
        administer_seconds=4.0,
        move_chance=0.1,
    )


def _lossy_store(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, store=replace(_LOSSY, late=0.08), cut_seconds=6.0, move_chance=0.1, administer_seconds=6.0)


def _lossy_objects(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, objects=replace(_LOSSY, full=0.02, slow=0.1), cut_seconds=8.0, administer_seconds=6.0)


def _zombies(base: Scenario, rng: random.Random) -> Scenario:
    slow = Rates(slow=0.15, late=0.02)
    return replace(
        base, brokers=max(2, base.brokers), seconds=28.0, store=slow, objects=slow, freeze_seconds=4.0, move_chance=0.05
    )


def _crashes(base: Scenario, rng: random.Random) -> Scenario:
    crashing = Rates(crash=0.01, slow=0.05)
    return replace(base, store=crashing, objects=crashing, kill_seconds=4.0, connection_loss=0.01)


def _movers(base: Scenario, rng: random.Random) -> Scenario:
    """Producers that go from broker to broker with batches in flight."""
    return replace(
        base,
        brokers=rng.choice([2, 3]),
        batch_seconds=0.03,
        idempotent_producers=2,
        partitions=1,
        plain_producers=0,
        connection_loss=0.03,
        move_chance=0.4,
        store=Rates(slow=0.05, lost=0.03),
        objects=Rates(slow=0.1),
    )


def _many_partitions(base: Scenario, rng: random.Random) -> Scenario:
    return replace(
        base,
        topics={"t0": base.topics["t0"]},
        partitions=16,
        idempotent_producers=1,
        batch_seconds=1.5,
        store=_ROUGH,
        objects=_ROUGH,
        administer_seconds=2.0,
        followers=1,
    )


def _big_batches(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, records_max=200, value_bytes_max=300, objects=_ROUGH, store=_ROUGH, batch_seconds=0.5)


def _log_append(base: Scenario, rng: random.Random) -> Scenario:
    topics = {name: {**config, "message.timestamp.type": "LogAppendTime"} for name, config in base.topics.items()}
    return replace(base, topics=topics, jump_seconds=5.0, store=_ROUGH, objects=_ROUGH, administer_seconds=5.0)


def _clocks(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, jump_seconds=1.5, freeze_seconds=12.0, store=_ROUGH, objects=_ROUGH, administer_seconds=5.0)


def _deletions(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, administer_seconds=0.7, store=_ROUGH, objects=_ROUGH, batch_seconds=0.1)


_MIXES: dict[str, Callable[[Scenario, random.Random], Scenario]] = {
    function.__name__.strip("_").replace("_", " "): function
    for function in (
        _quiet,
        _storm,
        _lossy_store,
        _lossy_objects,
        _zombies,
        _crashes,
        _movers,
        _many_partitions,
        _big_batches,
        _log_append,
        _clocks,
        _deletions,
    )
}

"""From a seed to a scenario: a mix gives the run its character; the seed varies the rest, so no two runs are alike."""

import random
from collections.abc import Callable

from lakestream.broker.broker import BrokerLimits
from lakestream.storage.garbage.duties import GarbageLimits
from lakestream.storage.wal.flusher import WalLimits
from lakestream.storage.wal.inline_budget import InlineLimits
from tests.simulation.scenario import GRACE_MS, Scenario

from .groups import GROUP_MIXES
from .log import LOG_MIXES
from .tables import TABLE_MIXES
from .transactions import TRANSACTION_MIXES

Mix = Callable[[Scenario, random.Random], Scenario]


def _named(*mixes: Mix) -> dict[str, Mix]:
    return {mix.__name__.strip("_").replace("_", " "): mix for mix in mixes}


KINDS: dict[str, dict[str, Mix]] = {
    "log": _named(*LOG_MIXES),
    "tables": _named(*TABLE_MIXES),
    "groups": _named(*GROUP_MIXES),
    "transactions": _named(*TRANSACTION_MIXES),
}
"""What a run is about; each kind has its own mixes."""


def scenario_of(seed: int, kind: str = "log") -> Scenario:
    rng = random.Random(f"{seed} scenario")
    mixes = KINDS[kind]
    mix = sorted(mixes)[seed % len(mixes)]
    return mixes[mix](_base(mix, rng), rng)


def seeds_of(mix: str, count: int, kind: str = "log") -> list[int]:
    """The first seeds that give this mix."""
    mixes = KINDS[kind]
    first = sorted(mixes).index(mix)
    return [first + round * len(mixes) for round in range(count)]


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
    if rng.random() < 0.4:
        config["lakestream.profile"] = "fast"
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
            inline=InlineLimits(
                flush_bytes_max=rng.choice([0, 400, 128 * 1024]),
                bytes_per_second=rng.choice([1_000, 4 * 1024 * 1024]),
                at_rest_bytes_max=rng.choice([2_000, 64 * 1024 * 1024]),
                move_seconds=rng.choice([0.3, 2.0]),
                move_bytes=rng.choice([500, 8 * 1024 * 1024]),
            ),
        ),
        garbage=GarbageLimits(grace_ms=GRACE_MS, retention_seconds=2.0, delete_seconds=1.5, sweep_seconds=4.0),
    )

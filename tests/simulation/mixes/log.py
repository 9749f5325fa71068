"""Mixes about the log alone."""

import random
from dataclasses import replace

from tests.simulation.scenario import Scenario
from tests.simulation.weather import Rates

LOSSY = Rates(refused=0.04, lost=0.05, late=0.03, slow=0.05)
ROUGH = Rates(refused=0.02, lost=0.02, late=0.01, slow=0.03, crash=0.001)


def _quiet(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, administer_seconds=5.0, drain_seconds=8.0)


def storm(base: Scenario, rng: random.Random) -> Scenario:
    return replace(
        base,
        brokers=3,
        store=replace(ROUGH, crash=0.002),
        objects=replace(ROUGH, crash=0.002),
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
    return replace(base, store=replace(LOSSY, late=0.08), cut_seconds=6.0, move_chance=0.1, administer_seconds=6.0)


def _lossy_objects(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, objects=replace(LOSSY, full=0.02, slow=0.1), cut_seconds=8.0, administer_seconds=6.0)


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
        store=ROUGH,
        objects=ROUGH,
        administer_seconds=2.0,
        followers=1,
    )


def _big_batches(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, records_max=200, value_bytes_max=300, objects=ROUGH, store=ROUGH, batch_seconds=0.5)


def _log_append(base: Scenario, rng: random.Random) -> Scenario:
    topics = {name: {**config, "message.timestamp.type": "LogAppendTime"} for name, config in base.topics.items()}
    return replace(base, topics=topics, jump_seconds=5.0, store=ROUGH, objects=ROUGH, administer_seconds=5.0)


def _clocks(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, jump_seconds=1.5, freeze_seconds=12.0, store=ROUGH, objects=ROUGH, administer_seconds=5.0)


def _deletions(base: Scenario, rng: random.Random) -> Scenario:
    return replace(base, administer_seconds=0.7, store=ROUGH, objects=ROUGH, batch_seconds=0.1)


LOG_MIXES = (
    _quiet,
    storm,
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

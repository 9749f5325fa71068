"""Mixes about groups."""

import random
from dataclasses import replace

from lakestream.broker.broker import BrokerLimits
from lakestream.broker.groups.limits import GroupLimits
from tests.simulation.scenario import Grouping, Scenario
from tests.simulation.weather import Rates

from .log import LOSSY, ROUGH


def _grouped(base: Scenario, rng: random.Random) -> Scenario:
    limits = BrokerLimits(
        lease_ms=rng.choice([1_500, 3_000]),
        groups=GroupLimits(
            session_timeout_ms_min=1_000,
            initial_rebalance_delay_ms=500,
            consumer_session_timeout_ms=6_000,
            consumer_heartbeat_interval_ms=1_000,
        ),
    )
    return replace(
        base,
        seconds=40.0,
        brokers=rng.choice([2, 2, 3]),
        limits=limits,
        delay_seconds_max=rng.choice([0.001, 0.02, 0.2]),
        grouping=Grouping(
            kinds=rng.choice([("classic",), ("consumer",), ("classic", "consumer")]),
            topics={"bills": 2, "orders": 3},
            change_seconds=4.0,
        ),
    )


def _groups_zombies(base: Scenario, rng: random.Random) -> Scenario:
    """Coordinators that sleep, and wake without knowing for how long they slept."""
    slow = Rates(slow=0.05, slow_seconds_max=3.0, freeze=0.02, freeze_seconds_max=6.0)
    return replace(_grouped(base, rng), store=slow, freeze_seconds=3.0)


def _groups_lossy_store(base: Scenario, rng: random.Random) -> Scenario:
    return replace(_grouped(base, rng), store=replace(LOSSY, late=0.08), cut_seconds=8.0, connection_loss=0.02)


def _groups_crashes(base: Scenario, rng: random.Random) -> Scenario:
    return replace(_grouped(base, rng), store=Rates(crash=0.004, slow=0.03), kill_seconds=6.0, drain_seconds=8.0)


def _groups_clocks(base: Scenario, rng: random.Random) -> Scenario:
    """The store's clock jumps: leases run out at once, or live on."""
    return replace(_grouped(base, rng), store=ROUGH, jump_seconds=4.0, freeze_seconds=8.0, connection_loss=0.02)


GROUP_MIXES = (
    _groups_zombies,
    _groups_lossy_store,
    _groups_crashes,
    _groups_clocks,
)

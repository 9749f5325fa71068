"""Mixes about transactions."""

import random
from dataclasses import replace

from lakestream.broker.transactions.limits import TransactionLimits
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.table.compaction.plan import PlanLimits
from tests.simulation.scenario import Pace, Scenario, Tabling, Transacting
from tests.simulation.weather import Rates

from .log import LOSSY, ROUGH


def _transacted(base: Scenario, rng: random.Random) -> Scenario:
    names = [f"t{number}" for number in range(rng.choice([1, 2, 2, 3]))]
    profile = {"lakestream.profile": "fast"}
    timeout_ms = rng.choice([4_000, 6_000])
    return replace(
        base,
        seconds=12.0,
        brokers=rng.choice([2, 2, 3]),
        topics={name: rng.choice([{}, profile]) for name in names},
        partitions=rng.choice([1, 2]),
        batch_seconds=rng.choice([0.1, 0.3]),
        delay_seconds_max=rng.choice([0.001, 0.02, 0.1]),
        records_max=rng.choice([1, 4]),
        limits=replace(
            base.limits,
            transactions=TransactionLimits(check_seconds=0.5, forget_seconds=2.0, timeout_ms_max=timeout_ms),
        ),
        tabling=Tabling(
            pipelines=1,
            plan=PlanLimits(
                freshness_ms=rng.choice([500, 1_000]),
                task_bytes_max=rng.choice([2_000, 20_000]),
                task_bytes_min=rng.choice([200, 5_000]),
                spans_max=rng.choice([20, 1_000]),
                round_bytes_max=rng.choice([5_000, 1_000_000]),
            ),
            merging=MergeLimits(files_min=3, target_bytes=20_000, time_share=0.5),
            lease_ms=1_500,
        ),
        transacting=Transacting(ids=rng.choice([1, 2, 3]), timeout_ms=timeout_ms, replace_seconds=3.0),
    )


def _transactions_calm(base: Scenario, rng: random.Random) -> Scenario:
    return replace(_transacted(base, rng), drain_seconds=8.0)


def _transactions_lossy_store(base: Scenario, rng: random.Random) -> Scenario:
    return replace(
        _transacted(base, rng), store=replace(LOSSY, late=0.08), cut_seconds=8.0, connection_loss=0.02, move_chance=0.1
    )


def _transactions_zombies(base: Scenario, rng: random.Random) -> Scenario:
    slow = Rates(slow=0.1, slow_seconds_max=3.0, late=0.02)
    return replace(_transacted(base, rng), store=slow, objects=slow, freeze_seconds=5.0)


def _transactions_crashes(base: Scenario, rng: random.Random) -> Scenario:
    crashing = Rates(crash=0.006, slow=0.03)
    scenario = replace(_transacted(base, rng), store=crashing, objects=crashing, kill_seconds=5.0)
    assert scenario.tabling is not None
    tabling = replace(scenario.tabling, pipelines=2, store=crashing, objects=crashing, pace=Pace(kill_seconds=8.0))
    return replace(scenario, tabling=tabling)


def _transactions_deletions(base: Scenario, rng: random.Random) -> Scenario:
    """Records are deleted and retired inside of open transactions."""
    scenario = _transacted(base, rng)
    assert scenario.transacting is not None
    name = sorted(scenario.topics)[0]
    topics = {**scenario.topics, name: {**scenario.topics[name], "retention.ms": "4000"}}
    return replace(
        scenario,
        topics=topics,
        store=ROUGH,
        jump_seconds=8.0,
        transacting=replace(scenario.transacting, delete_seconds=1.0),
    )


TRANSACTION_MIXES = (
    _transactions_calm,
    _transactions_lossy_store,
    _transactions_zombies,
    _transactions_crashes,
    _transactions_deletions,
)

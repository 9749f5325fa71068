"""Mixes in which the log becomes tables."""

import random
from dataclasses import replace
from typing import Any

from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.model.configs.value_configs import KEY_FORMAT, VALUE_FORMAT
from lakestream.table.compaction.plan import PlanLimits
from tests.simulation.scenario import Pace, Scenario, Tabling
from tests.simulation.weather import Rates

from .log import LOSSY, ROUGH, storm

_ASTRAY = Rates(refused=0.01, lost=0.03, late=0.03, slow=0.03, slow_seconds_max=2.0)
"""A round makes many calls, and each failed one costs it a pause that grows: rare enough that some get through."""


def _tabled(base: Scenario, rng: random.Random) -> Scenario:
    """A log with pipelines beside it; jobs of several files, or of a part of what is due."""
    plan = PlanLimits(
        freshness_ms=rng.choice([500, 1_000, 2_000]),
        task_bytes_max=rng.choice([2_000, 20_000]),
        task_bytes_min=rng.choice([200, 5_000]),
        spans_max=rng.choice([20, 1_000]),
        round_bytes_max=rng.choice([5_000, 1_000_000]),
    )
    return replace(
        base,
        seconds=rng.uniform(14, 20),
        brokers=rng.choice([1, 2]),
        topics={name: {**config, **_format(rng)} for name, config in base.topics.items()},
        partitions=min(2, base.partitions),
        batch_seconds=0.5,
        idempotent_producers=1,
        followers=1,
        administer_seconds=8.0,
        tabling=Tabling(
            pipelines=rng.choice([1, 2, 2]),
            plan=plan,
            merging=MergeLimits(
                files_min=rng.choice([2, 3]), target_bytes=rng.choice([20_000, 200_000]), time_share=0.5
            ),
            lease_ms=rng.choice([1_500, 3_000]),
            stranger_seconds=2.5,
        ),
    )


def _format(rng: random.Random) -> dict[str, str]:
    """Every other topic is a typed one."""
    return rng.choice([{}, {VALUE_FORMAT: "json"}, {}, {VALUE_FORMAT: "json", KEY_FORMAT: "string"}])


def _tabling(scenario: Scenario, **changes: Any) -> Scenario:
    assert scenario.tabling is not None
    return replace(scenario, tabling=replace(scenario.tabling, **changes))


def _tables_calm(base: Scenario, rng: random.Random) -> Scenario:
    return _tabling(_tabled(base, rng), pace=Pace(drain_seconds=6.0))


def _tables_crashes(base: Scenario, rng: random.Random) -> Scenario:
    """Pipelines and their workers die between any two steps of a job."""
    crashing = Rates(crash=0.012, slow=0.02)
    return _tabling(
        replace(_tabled(base, rng), seconds=26.0),
        lease_ms=1_000,
        store=crashing,
        objects=crashing,
        workers=replace(crashing, crash=0.04),
        pace=Pace(kill_seconds=8.0),
    )


def _tables_lossy_store(base: Scenario, rng: random.Random) -> Scenario:
    return _tabling(replace(_tabled(base, rng), seconds=24.0), store=replace(_ASTRAY, lost=0.05, late=0.05))


def _tables_lossy_objects(base: Scenario, rng: random.Random) -> Scenario:
    return _tabling(_tabled(base, rng), objects=_ASTRAY, workers=LOSSY, pace=Pace(cut_seconds=20.0))


def _tables_zombies(base: Scenario, rng: random.Random) -> Scenario:
    """Pipelines that sleep past their lease with a commit in hand, and wake beside their successor."""
    slow = Rates(slow=0.04, late=0.01, slow_seconds_max=2.0)
    freezing = replace(slow, freeze=0.025, freeze_seconds_max=4.0)
    return _tabling(
        replace(_tabled(base, rng), seconds=26.0),
        pipelines=2,
        lease_ms=1_000,
        store=freezing,
        objects=freezing,
        workers=slow,
        pace=Pace(freeze_seconds=8.0),
    )


def _tables_deletions(base: Scenario, rng: random.Random) -> Scenario:
    """Topics deleted and made anew, records deleted and retired, in the middle of jobs."""
    slow = Rates(slow=0.1, slow_seconds_max=2.0)
    return _tabling(
        replace(_tabled(base, rng), administer_seconds=0.8, store=ROUGH, objects=ROUGH), store=slow, objects=slow
    )


def _tables_strangers(base: Scenario, rng: random.Random) -> Scenario:
    return _tabling(
        _tabled(base, rng),
        stranger_seconds=0.15,
        store=replace(ROUGH, crash=0.0),
        objects=Rates(slow=0.3, slow_seconds_max=1.0),
    )


def _tables_storm(base: Scenario, rng: random.Random) -> Scenario:
    return _tabling(
        replace(storm(_tabled(base, rng), rng), brokers=2, seconds=26.0),
        pipelines=2,
        lease_ms=1_000,
        store=replace(ROUGH, crash=0.004, freeze=0.004),
        objects=replace(ROUGH, crash=0.004, freeze=0.004),
        workers=replace(ROUGH, crash=0.02),
        pace=Pace(kill_seconds=12.0, drain_seconds=12.0, freeze_seconds=12.0, cut_seconds=20.0),
        stranger_seconds=2.0,
    )


TABLE_MIXES = (
    _tables_calm,
    _tables_crashes,
    _tables_lossy_store,
    _tables_lossy_objects,
    _tables_zombies,
    _tables_deletions,
    _tables_strangers,
    _tables_storm,
)

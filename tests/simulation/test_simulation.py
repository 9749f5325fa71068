"""The log keeps its promises through seeded faults, and every seed can be replayed."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from .world import run_seed

SEEDS = range(24)
"""Two of every mix. `make sim` runs more, `make soak` many more."""

REACHED = (
    "DUPLICATE",
    "OUT_OF_ORDER",
    "UNKNOWN_PRODUCER",
    "UNKNOWN_PARTITION",
    "STALE_EPOCH",
    "commit found it abandoned",
    "commit was fenced",
    "flush failed",
    "segments deleted",
    "objects abandoned",
    "spans dropped",
    "late store.commit_segment",
    "late objects.put",
    "cache hit",
    "segment read",
    "drain",
    "thaw",
    "jump",
    "epoch",
)
"""What the faults must have brought about, or the seeds have become harmless."""

_events: Counter[str] = Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_promise_holds_and_the_seed_replays(seed: int) -> None:
    first, second = run_seed(seed), run_seed(seed)
    assert not first.broken, "\n".join((*first.tail[-60:], f"seed {seed} ({first.mix}):", *first.broken))
    assert first.digest == second.digest, f"seed {seed} ({first.mix}) is not the same twice"
    _events.update(first.events)


def test_the_seeds_reach_what_they_are_meant_to() -> None:
    assert not [event for event in REACHED if not _events[event]]


def test_a_seed_is_the_same_in_another_process() -> None:
    """Where the order of a set of strings decided anything, another hash seed would tell."""
    script = "from tests.simulation.world import run_seed; print(run_seed(10).digest)"
    other = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == run_seed(10).digest

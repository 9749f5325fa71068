"""The simulation can fail: with any one safeguard taken out of the log, it finds a broken promise."""

import pytest

from .mutants import MUTANTS
from .scenario import seeds_of
from .world import run_seed

SEEDS_MAX = 6


@pytest.mark.parametrize("name", MUTANTS)
def test_a_missing_safeguard_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    mutant.break_it(monkeypatch)
    assert any(run_seed(seed).broken for seed in seeds_of(mutant.mix, SEEDS_MAX)), f"nobody noticed that {name}"

"""The simulation can fail: with any one safeguard taken out, it finds a broken promise."""

import pytest

from .groups.mutants import GROUP_MUTANTS
from .mixes.choosing import seeds_of
from .mutants import LOG_MUTANTS
from .tables.mutants import TABLE_MUTANTS
from .transactions.mutants import TRANSACTION_MUTANTS
from .world import run_seed

SEEDS_MAX = 12
MUTANTS = {**LOG_MUTANTS, **TABLE_MUTANTS, **GROUP_MUTANTS, **TRANSACTION_MUTANTS}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_missing_safeguard_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    mutant.break_it(monkeypatch)
    hint = [] if mutant.seed is None else [mutant.seed]
    seeds = dict.fromkeys([*hint, *seeds_of(mutant.mix, SEEDS_MAX, mutant.kind)])
    assert any(run_seed(seed, mutant.kind).broken for seed in seeds), f"nobody noticed that {name}"

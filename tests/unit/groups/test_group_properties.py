"""Whatever goes wrong: once it is quiet each partition has exactly one owner, and commits never go back."""

import pytest

from tests.unit.groups.chaos import ClassicClient, Client, Cluster, ConsumerClient
from tests.unit.groups.virtual import run

ROUNDS = 3
QUIET_SECONDS = 90


async def rounds(seed: int, kinds: list[type[Client]]) -> tuple[object, ...]:
    cluster = Cluster(seed, kinds=kinds)
    cluster.come()
    for _ in range(ROUNDS):
        await cluster.trouble(40)
        await cluster.calm(QUIET_SECONDS)
        cluster.check_one_owner_each()
    await cluster.close()
    offsets = {name: sorted(row.offsets.items()) for name, row in cluster.store.rows.items()}
    return cluster.store.saves, cluster.store.refused, cluster.made, str(offsets)


@pytest.mark.parametrize("seed", range(5))
def test_classic_groups_come_to_rest_with_one_owner_each(seed: int) -> None:
    run(rounds(seed, [ClassicClient]), seed)


@pytest.mark.parametrize("seed", range(5))
def test_consumer_groups_come_to_rest_with_one_owner_each(seed: int) -> None:
    run(rounds(seed, [ConsumerClient]), seed)


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_change_their_protocol_come_to_rest_with_one_owner_each(seed: int) -> None:
    run(rounds(seed, [ClassicClient, ConsumerClient]), seed)


def test_a_seed_always_gives_the_same_run() -> None:
    kinds: list[type[Client]] = [ClassicClient, ConsumerClient]
    assert run(rounds(5, kinds), 5) == run(rounds(5, kinds), 5)


def test_zombies_were_among_those_runs() -> None:
    refused = [run(rounds(seed, [ClassicClient, ConsumerClient]), seed)[1] for seed in range(3)]
    assert any(refused), "no write of an overtaken coordinator was refused: the trouble is too mild"

"""Quotas are stored as they were set, all changes of a request or none, and each change raises the version."""

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.metadata.verbs import access as verbs
from lakestream.model.quota import DEFAULT, Quota, QuotaChange, QuotaEntity, QuotaKind, TooManyQuotas
from tests.behaviour.metadata.stage import Stage

PRODUCED, FETCHED = QuotaKind.PRODUCED_BYTES, QuotaKind.FETCHED_BYTES
ODD_NAMES = [
    QuotaEntity(user="*"),
    QuotaEntity(user=DEFAULT),
    QuotaEntity(user=""),
    QuotaEntity(user="=alice", client_id=DEFAULT),
    QuotaEntity(client_id="*"),
]


def test_quotas_of_all_kinds_of_entities_are_found_as_they_were_set(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.access.change_quotas([QuotaChange(entity, PRODUCED, 1.5) for entity in ODD_NAMES])
        assert set(await store.access.quotas()) == {Quota(entity, PRODUCED, 1.5) for entity in ODD_NAMES}

    stage.run(scenario)


def test_a_later_value_replaces_an_earlier_one_and_none_removes_it(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        alice = QuotaEntity(user="alice")
        await store.access.change_quotas([QuotaChange(alice, PRODUCED, 1.0), QuotaChange(alice, FETCHED, 2.0)])
        await store.access.change_quotas([QuotaChange(alice, PRODUCED, 1e15)])
        assert set(await store.access.quotas()) == {Quota(alice, PRODUCED, 1e15), Quota(alice, FETCHED, 2.0)}
        await store.access.change_quotas([QuotaChange(alice, PRODUCED, None), QuotaChange(alice, FETCHED, None)])
        assert await store.access.quotas() == ()

    stage.run(scenario)


def test_a_change_raises_the_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        before = await store.access.version()
        await store.access.change_quotas([QuotaChange(QuotaEntity(user="alice"), PRODUCED, 1.0)])
        assert await store.access.version() > before

    stage.run(scenario)


def test_too_many_quotas_are_refused_and_none_of_them_is_stored(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "QUOTAS_MAX", 2)

    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(TooManyQuotas, match="defaults"):
            await store.access.change_quotas(
                [QuotaChange(QuotaEntity(user=str(number)), PRODUCED, 1.0) for number in range(3)]
            )
        assert await store.access.quotas() == ()

    stage.run(scenario)

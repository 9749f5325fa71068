"""Who owns a group, and that nobody else changes it."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import BrokerFenced, NotCoordinator
from lakestream.model.group import GroupKind, ListedGroup, SavedGroup
from tests.behaviour.groups.saved import at, saved
from tests.behaviour.metadata.stage import TTL_MS, Stage


def test_a_group_begins_when_it_is_claimed_to_be_made(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        assert await store.groups.claim_group("g", lease, create=False) is None
        claim = await store.groups.claim_group("g", lease, create=True)
        assert claim is not None and claim.state is None
        again = await store.groups.claim_group("g", lease, create=False)
        assert again is not None and again.epoch > claim.epoch

    stage.run(scenario)


def test_what_was_saved_is_given_to_the_next_owner(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = await stage.broker(store, 1), await stage.broker(store, 2)
        claim = await store.groups.claim_group("g", first, create=True)
        assert claim is not None
        await store.groups.save_group("g", claim.epoch, saved(state=b"one\0"))
        await store.groups.save_group("g", claim.epoch, saved(state=b"two\0"))
        taken = await store.groups.claim_group("g", second, create=True)
        assert taken is not None and taken.state == b"two\0"

    stage.run(scenario)


def test_an_owner_that_was_overtaken_changes_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, lease = await stage.topic(store), await stage.broker(store)
        groups = store.groups
        old = await groups.claim_group("g", lease, create=True)
        assert old is not None
        await groups.commit_offsets("g", old.epoch, generation=-1, offsets=at(topic, p0=5), retention_ms=None)
        new = await groups.claim_group("g", lease, create=True)
        assert new is not None
        with pytest.raises(NotCoordinator):
            await groups.save_group("g", old.epoch, saved())
        with pytest.raises(NotCoordinator):
            await groups.commit_offsets("g", old.epoch, generation=-1, offsets=at(topic, p0=3), retention_ms=None)
        with pytest.raises(NotCoordinator):
            await groups.delete_offsets("g", old.epoch, list(at(topic, p0=0)))
        assert await groups.delete_groups({"g": old.epoch}) == frozenset()
        assert await groups.fetch_offsets("g", None) == at(topic, p0=5)
        claim = await groups.claim_group("g", lease, create=False)
        assert claim is not None and claim.state is None

    stage.run(scenario)


def test_epochs_are_not_reused_by_a_group_that_came_back(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        old = await store.groups.claim_group("g", lease, create=True)
        assert old is not None
        assert await store.groups.delete_groups({"g": old.epoch, "other": old.epoch}) == {"g"}
        new = await store.groups.claim_group("g", lease, create=True)
        assert new is not None and new.epoch > old.epoch
        with pytest.raises(NotCoordinator):
            await store.groups.save_group("g", old.epoch, saved())

    stage.run(scenario)


def test_claims_at_once_get_different_epochs_and_the_highest_owns(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        claims = await asyncio.gather(*(store.groups.claim_group("g", lease, create=True) for _ in range(6)))
        epochs = [claim.epoch for claim in claims if claim is not None]
        assert len(set(epochs)) == 6
        for epoch in epochs:
            if epoch == max(epochs):
                await store.groups.save_group("g", epoch, saved())
            else:
                with pytest.raises(NotCoordinator):
                    await store.groups.save_group("g", epoch, saved())

    stage.run(scenario)


def test_only_a_broker_whose_lease_holds_may_claim(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        old = await stage.broker(store)
        new = await stage.broker(store)
        with pytest.raises(BrokerFenced):
            await store.groups.claim_group("g", old, create=True)
        stage.pass_time(TTL_MS + 1)
        with pytest.raises(BrokerFenced):
            await store.groups.claim_group("g", new, create=True)
        assert await store.groups.list_groups() == []

    stage.run(scenario)


def test_groups_are_listed_by_name_with_what_was_last_saved(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        for name in ("b", "B", "a"):
            await store.groups.claim_group(name, lease, create=True)
        claim = await store.groups.claim_group("a", lease, create=True)
        assert claim is not None
        state = SavedGroup(
            kind=GroupKind.CONSUMER, protocol_type="consumer", generation=3, empty=False, subscribed=None, state=b""
        )
        await store.groups.save_group("a", claim.epoch, state)
        assert await store.groups.list_groups() == [
            ListedGroup(group="B", kind=GroupKind.CLASSIC, protocol_type="", empty=True),
            ListedGroup(group="a", kind=GroupKind.CONSUMER, protocol_type="consumer", empty=False),
            ListedGroup(group="b", kind=GroupKind.CLASSIC, protocol_type="", empty=True),
        ]

    stage.run(scenario)

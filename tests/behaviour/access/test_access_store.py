"""ACLs and credentials: every change raises the version, and what was stored is found again."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.metadata.verbs import access as verbs
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import Acl, AclFilter, Pattern, Permission, TooManyAcls
from lakestream.model.credential import Credential, Mechanism, UnknownUser
from tests.behaviour.metadata.stage import Stage

READ = Acl(
    resource=ResourceType.TOPIC,
    pattern=Pattern.LITERAL,
    name="orders",
    principal="User:alice",
    host="*",
    operation=Operation.READ,
    permission=Permission.ALLOW,
)
ALL_OF_TABLE = replace(READ, resource=ResourceType.TABLE, name="sales.daily", operation=None)
DENY_PREFIX = replace(READ, pattern=Pattern.PREFIXED, name="ord", permission=Permission.DENY, host="10.0.0.1")
SECRET = Credential(
    user="alice",
    mechanism=Mechanism.SCRAM_SHA_256,
    iterations=4096,
    salt=b"\x00salt",
    stored_key=b"\xffstored",
    server_key=b"\x80server",
)


def test_acls_are_found_as_they_were_stored_and_each_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.access.add_acls([READ, ALL_OF_TABLE])
        await store.access.add_acls([READ, DENY_PREFIX])
        assert set((await store.access.view()).acls) == {READ, ALL_OF_TABLE, DENY_PREFIX}
        assert len((await store.access.view()).acls) == 3

    stage.run(scenario)


def test_each_filter_is_told_which_acls_it_removed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.access.add_acls([READ, ALL_OF_TABLE, DENY_PREFIX])
        filters = [
            AclFilter(resource=ResourceType.TOPIC, name="orders", matches_name=True),
            AclFilter(name="orders", pattern=Pattern.LITERAL),
            AclFilter(principal="User:bob"),
        ]
        removed = await store.access.remove_acls(filters)
        assert [set(some) for some in removed] == [{READ, DENY_PREFIX}, {READ}, set()]
        assert (await store.access.view()).acls == (ALL_OF_TABLE,)

    stage.run(scenario)


def test_every_change_raises_the_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        seen = [await store.access.version()]
        await store.access.add_acls([READ])
        seen.append(await store.access.version())
        await store.access.put_credential(SECRET)
        seen.append(await store.access.version())
        await store.access.remove_acls([AclFilter()])
        seen.append(await store.access.version())
        await store.access.remove_credential("alice", Mechanism.SCRAM_SHA_256)
        seen.append((await store.access.view()).version)
        assert seen == sorted(set(seen))

    stage.run(scenario)


def test_a_new_password_replaces_the_old_one_of_its_mechanism_alone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        other = replace(SECRET, mechanism=Mechanism.SCRAM_SHA_512)
        changed = replace(SECRET, stored_key=b"another")
        for credential in (SECRET, other, changed):
            await store.access.put_credential(credential)
        assert (await store.access.view()).credentials == (changed, other)
        await store.access.remove_credential("alice", Mechanism.SCRAM_SHA_256)
        assert (await store.access.view()).credentials == (other,)
        with pytest.raises(UnknownUser):
            await store.access.remove_credential("alice", Mechanism.SCRAM_SHA_256)

    stage.run(scenario)


def test_more_acls_than_memory_should_hold_are_refused_and_none_of_them_is_stored(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "ACLS_MAX", 2)

    async def scenario(store: MetadataStore) -> None:
        await store.access.add_acls([READ])
        with pytest.raises(TooManyAcls):
            await store.access.add_acls([ALL_OF_TABLE, DENY_PREFIX])
        assert (await store.access.view()).acls == (READ,)

    stage.run(scenario)

"""Deleting: hidden first, then removed; never from under a schema that refers to it."""

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.registry import Compatibility, SchemaReference, Shown, SubjectSettings, VersionKey
from lakestream.model.registry_errors import (
    ReferenceExists,
    SubjectDeleted,
    SubjectNotDeleted,
    UnknownSubject,
    UnknownVersion,
    VersionDeleted,
    VersionNotDeleted,
)
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.registry.bodies import registered


def test_a_deleted_version_is_hidden_and_its_schema_still_read(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        for text in ('"int"', '"long"'):
            await registered(registry, "a", text)
        await registry.delete_version(VersionKey("a", 1), permanent=False)
        view = await registry.subject_view("a")
        assert [(entry.version, entry.deleted) for entry in view.versions] == [(1, True), (2, False)]
        assert 1 in await registry.schemas([1])
        assert await registry.versions_of_schema(1, Shown.LIVE) == []
        assert await registry.versions_of_schema(1, Shown.DELETED) == [VersionKey("a", 1)]

    stage.run(scenario)


def test_each_step_of_deleting_a_version_has_its_own_refusal(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry, key = store.registry, VersionKey("a", 1)
        with pytest.raises(UnknownSubject):
            await registry.delete_version(key, permanent=False)
        await registered(registry, "a", '"int"')
        with pytest.raises(UnknownVersion):
            await registry.delete_version(VersionKey("a", 2), permanent=False)
        with pytest.raises(VersionNotDeleted):
            await registry.delete_version(key, permanent=True)
        await registry.delete_version(key, permanent=False)
        with pytest.raises(VersionDeleted):
            await registry.delete_version(key, permanent=False)
        await registry.delete_version(key, permanent=True)
        with pytest.raises(UnknownSubject):
            await registry.delete_version(key, permanent=True)

    stage.run(scenario)


def test_each_step_of_deleting_a_subject_has_its_own_refusal(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        with pytest.raises(UnknownSubject):
            await registry.delete_subject("a", permanent=False)
        for text in ('"int"', '"long"', '"string"'):
            await registered(registry, "a", text)
        await registry.delete_version(VersionKey("a", 2), permanent=False)
        with pytest.raises(SubjectNotDeleted):
            await registry.delete_subject("a", permanent=True)
        assert await registry.delete_subject("a", permanent=False) == [1, 3]
        with pytest.raises(SubjectDeleted):
            await registry.delete_subject("a", permanent=False)
        assert await registry.delete_subject("a", permanent=True) == [1, 2, 3]
        with pytest.raises(UnknownSubject):
            await registry.delete_subject("a", permanent=True)

    stage.run(scenario)


def test_a_removed_schema_is_gone_and_its_id_never_given_again(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "a", '"int"')
        await registry.delete_subject("a", permanent=False)
        await registry.delete_subject("a", permanent=True)
        assert await registry.schemas([1]) == {}
        again = await registered(registry, "a", '"int"')
        assert (again.version, again.schema.id) == (1, 2)

    stage.run(scenario)


def test_a_schema_stays_while_another_subject_has_it(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "a", '"int"')
        await registered(registry, "b", '"int"')
        await registry.delete_subject("a", permanent=False)
        await registry.delete_subject("a", permanent=True)
        assert 1 in await registry.schemas([1])

    stage.run(scenario)


def test_versions_go_on_after_a_deleted_one(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "a", '"int"')
        await registry.delete_version(VersionKey("a", 1), permanent=False)
        again = await registered(registry, "a", '"int"')
        assert (again.version, again.schema.id) == (2, 1)

    stage.run(scenario)


def test_a_version_is_not_deleted_from_under_a_referrer(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "base", '"int"')
        referrer = await registered(registry, "a", '"x"', SchemaReference("r", "base", 1))
        assert await registry.referrers(VersionKey("base", 1)) == [referrer.schema.id]
        with pytest.raises(ReferenceExists, match="ids 2"):
            await registry.delete_version(VersionKey("base", 1), permanent=False)
        with pytest.raises(ReferenceExists):
            await registry.delete_subject("base", permanent=False)
        assert (await registry.subject_view("base")).versions[0].deleted is False

    stage.run(scenario)


def test_a_version_is_not_removed_while_a_hidden_referrer_could_still_be_read(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "base", '"int"')
        await registered(registry, "a", '"x"', SchemaReference("r", "base", 1))
        await registry.delete_subject("a", permanent=False)
        assert await registry.referrers(VersionKey("base", 1)) == []
        await registry.delete_subject("base", permanent=False)
        with pytest.raises(ReferenceExists):
            await registry.delete_subject("base", permanent=True)
        await registry.delete_subject("a", permanent=True)
        assert await registry.delete_subject("base", permanent=True) == [1]

    stage.run(scenario)


def test_deleting_a_subject_takes_its_settings_along(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        await registered(registry, "a", '"int"')
        await registry.set_compatibility("a", Compatibility.FULL, True)
        await registry.delete_subject("a", permanent=False)
        assert await registry.settings("a") == SubjectSettings()

    stage.run(scenario)


def test_subjects_are_listed_by_prefix_and_by_what_is_left_of_them(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        for subject in ("b_1", "B", "a%", "b%1", "gone"):
            await registered(registry, subject, f'"{subject}"')
        await registered(registry, "a%", '"more"')
        await registry.delete_version(VersionKey("a%", 1), permanent=False)
        await registry.delete_subject("gone", permanent=False)
        assert await registry.subjects("", Shown.LIVE) == ["B", "a%", "b%1", "b_1"]
        assert await registry.subjects("b_", Shown.LIVE) == ["b_1"]
        assert await registry.subjects("b", Shown.LIVE) == ["b%1", "b_1"]
        assert await registry.subjects("", Shown.DELETED) == ["gone"]
        assert "gone" in await registry.subjects("", Shown.ALL)

    stage.run(scenario)


def test_versions_of_many_subjects_are_listed_in_windows(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        for subject in ("a", "b"):
            for text in ('"1"', '"2"', '"3"'):
                await registered(registry, subject, text)
        await registry.delete_version(VersionKey("b", 3), permanent=False)

        async def keys(shown: Shown, latest_only: bool, offset: int, limit: int) -> list[tuple[str, int]]:
            found = await registry.subject_versions("", shown, latest_only=latest_only, offset=offset, limit=limit)
            return [(one.subject, one.version) for one in found]

        assert await keys(Shown.LIVE, True, 0, 10) == [("a", 3), ("b", 2)]
        assert await keys(Shown.ALL, True, 0, 10) == [("a", 3), ("b", 3)]
        assert await keys(Shown.LIVE, False, 1, 3) == [("a", 2), ("a", 3), ("b", 1)]
        assert await keys(Shown.DELETED, False, 0, 10) == [("b", 3)]

    stage.run(scenario)

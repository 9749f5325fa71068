"""Schemas get ids, subjects get versions, and nothing is decided on what has changed since."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.registry import (
    GLOBAL_SUBJECT,
    Compatibility,
    Mode,
    NewVersion,
    SchemaReference,
    Shown,
    SubjectSettings,
    VersionKey,
)
from lakestream.model.registry_errors import (
    IdMismatch,
    InvalidSchema,
    NotPermitted,
    SubjectChanged,
)
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.registry.bodies import body, registered


def test_ids_are_dense_and_one_schema_has_one_id(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        made = [await registered(store.registry, subject, text) for subject, text in _PLAN]
        assert [(one.version, one.schema.id) for one in made] == [(1, 1), (2, 2), (1, 1), (2, 3)]
        assert await store.registry.schema_id_max() == 3
        assert await store.registry.versions_of_schema(1, Shown.LIVE) == [VersionKey("a", 1), VersionKey("b", 1)]

    stage.run(scenario)


_PLAN = [("a", '"int"'), ("a", '"long"'), ("b", '"int"'), ("b", '"string"')]


def test_a_schema_comes_back_as_it_was_stored(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await registered(store.registry, "base", '"Å 東 \\u0000"')
        made = await registered(store.registry, "a", '"x"', SchemaReference("näme", "base", 1))
        assert (await store.registry.schemas([made.schema.id, 99])) == {made.schema.id: made.schema}
        assert await store.registry.schema_by_guid(made.schema.body.guid) == made.schema
        assert await store.registry.version(VersionKey("a", 1)) == made
        assert await store.registry.version(VersionKey("a", 2)) is None
        assert await store.registry.schema_by_guid("nobody's") is None

    stage.run(scenario)


def test_a_version_judged_against_an_old_moment_is_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        view = await store.registry.subject_view("a")
        await registered(store.registry, "a", '"int"')
        with pytest.raises(SubjectChanged):
            await store.registry.register(NewVersion(subject="a", moment=view.moment, body=body('"long"')))

    stage.run(scenario)


@pytest.mark.parametrize("whose", ["a", GLOBAL_SUBJECT])
def test_a_change_of_the_rules_makes_a_judgement_old(stage: Stage, whose: str) -> None:
    async def scenario(store: MetadataStore) -> None:
        view = await store.registry.subject_view("a")
        await store.registry.set_compatibility(whose, Compatibility.NONE, None)
        with pytest.raises(SubjectChanged):
            await store.registry.register(NewVersion(subject="a", moment=view.moment, body=body('"long"')))

    stage.run(scenario)


def test_another_subject_does_not_make_a_judgement_old(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        view = await store.registry.subject_view("a")
        await registered(store.registry, "b", '"int"')
        made = await store.registry.register(NewVersion(subject="a", moment=view.moment, body=body('"long"')))
        assert (made.version, made.schema.id) == (1, 2)

    stage.run(scenario)


def test_of_many_at_once_each_moment_lets_one_through(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        view = await store.registry.subject_view("a")
        new = [NewVersion(subject="a", moment=view.moment, body=body(f'"{n}"')) for n in range(8)]
        outcomes = await asyncio.gather(*map(store.registry.register, new), return_exceptions=True)
        assert sum(isinstance(one, SubjectChanged) for one in outcomes) == 7
        assert [entry.version for entry in (await store.registry.subject_view("a")).versions] == [1]

    stage.run(scenario)


def test_ids_stay_dense_when_registrations_race(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        made = await asyncio.gather(*(registered(store.registry, f"s{n}", f'"{n}"') for n in range(20)))
        assert sorted(one.schema.id for one in made) == list(range(1, 21))

    stage.run(scenario)


def test_the_same_schema_raced_into_many_subjects_has_one_id(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        made = await asyncio.gather(*(registered(store.registry, f"s{n}", '"int"') for n in range(20)))
        assert {one.schema.id for one in made} == {1}

    stage.run(scenario)


def test_a_reference_must_lead_to_a_live_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(InvalidSchema, match="version 1 of 'base'"):
            await registered(store.registry, "a", '"x"', SchemaReference("r", "base", 1))
        await registered(store.registry, "base", '"int"')
        await store.registry.delete_version(VersionKey("base", 1), permanent=False)
        with pytest.raises(InvalidSchema):
            await registered(store.registry, "a", '"x"', SchemaReference("r", "base", 1))
        assert (await store.registry.subject_view("a")).versions == ()

    stage.run(scenario)


def test_an_import_keeps_its_ids_and_later_ids_go_on_above(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        made = await registered(store.registry, "a", '"int"', id=70, version=5)
        assert (made.version, made.schema.id) == (5, 70)
        with pytest.raises(NotPermitted, match="id 70"):
            await registered(store.registry, "a", '"long"', id=70)
        with pytest.raises(IdMismatch, match="id 70 instead of input id 71"):
            await registered(store.registry, "b", '"int"', id=71)
        with pytest.raises(NotPermitted, match="version 5"):
            await registered(store.registry, "a", '"long"', id=72, version=5)
        after = await registered(store.registry, "a", '"long"')
        assert (after.version, after.schema.id) == (6, 71)

    stage.run(scenario)


def test_settings_are_kept_by_subject_and_for_all(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        registry = store.registry
        assert await registry.settings("a") == SubjectSettings()
        await registry.set_compatibility("a", Compatibility.FULL, True)
        await registry.set_compatibility(GLOBAL_SUBJECT, Compatibility.NONE, None)
        await registry.set_mode("a", Mode.READONLY, force=False)
        view = await registry.subject_view("a")
        assert (view.compatibility, view.mode, view.normalize) == (Compatibility.FULL, Mode.READONLY, True)
        assert (await registry.subject_view("b")).compatibility is Compatibility.NONE
        await registry.set_compatibility("a", None, None)
        await registry.set_mode("a", None, force=False)
        assert await registry.settings("a") == SubjectSettings()
        assert await registry.subjects("", Shown.ALL) == []

    stage.run(scenario)


def test_import_mode_wants_an_empty_place_unless_forced(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await registered(store.registry, "a", '"int"')
        for whose in ("a", GLOBAL_SUBJECT):
            with pytest.raises(NotPermitted, match="Cannot import since found existing"):
                await store.registry.set_mode(whose, Mode.IMPORT, force=False)
        await store.registry.set_mode("b", Mode.IMPORT, force=False)
        await store.registry.set_mode("a", Mode.IMPORT, force=True)
        assert (await store.registry.settings("a")).mode is Mode.IMPORT

    stage.run(scenario)

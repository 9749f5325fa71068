"""A schema that is registered with a change to a table: under the id that was foreseen, or neither happens."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.registry import ForeseenVersion, NewVersion
from lakestream.model.table import PointerMove, RequestReceipt
from lakestream.model.table_errors import AnsweredBefore, CommitConflict
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.registry.bodies import body, registered
from tests.behaviour.tables.pointers import pointer

SUBJECT = "t-value"


async def foreseen(store: MetadataStore, text: str) -> ForeseenVersion:
    view = await store.registry.subject_view(SUBJECT)
    version = NewVersion(subject=SUBJECT, moment=view.moment, body=body(text))
    known = await store.registry.schema_by_guid(version.body.guid)
    return ForeseenVersion(version, await store.registry.schema_id_max() + 1 if known is None else known.id)


async def altering(store: MetadataStore, version: ForeseenVersion) -> PointerMove:
    found = await store.tables.table(("a",), "t")
    assert found is not None
    return PointerMove(
        pointer=replace(found, metadata_location=f"{found.metadata_location}+"),
        expected_location=found.metadata_location,
        registered=version,
    )


async def with_table(store: MetadataStore) -> None:
    await store.tables.create_namespace(("a",), {})
    await store.tables.move_tables([PointerMove(pointer=pointer("t"), expected_location=None)])


async def state(store: MetadataStore) -> tuple[str, list[tuple[int, int]]]:
    found = await store.tables.table(("a",), "t")
    view = await store.registry.subject_view(SUBJECT)
    assert found is not None
    return found.metadata_location, [(entry.version, entry.schema_id) for entry in view.versions]


def test_pointer_and_version_come_together_and_a_known_schema_keeps_its_id(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_table(store)
        elsewhere = await registered(store.registry, "other", "shared")
        for text in ("first", "shared"):
            move = await altering(store, await foreseen(store, text))
            await store.tables.move_tables([move])
            assert (await state(store))[0] == move.pointer.metadata_location
        assert (await state(store))[1] == [(1, 2), (2, elsewhere.schema.id)]

    stage.run(scenario)


def test_neither_happens_if_the_id_or_the_subject_or_the_pointer_has_moved(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_table(store)
        move = await altering(store, await foreseen(store, "mine"))
        await registered(store.registry, "other", "theirs")
        before = await state(store)
        with pytest.raises(CommitConflict, match="schema id 1"):
            await store.tables.move_tables([move])
        assert await state(store) == before
        move = await altering(store, await foreseen(store, "mine"))
        await registered(store.registry, SUBJECT, "theirs")
        before = await state(store)
        with pytest.raises(CommitConflict, match="judge the schema anew"):
            await store.tables.move_tables([move])
        assert await state(store) == before
        move = await altering(store, await foreseen(store, "mine"))
        with pytest.raises(CommitConflict):
            await store.tables.move_tables([replace(move, expected_location="elsewhere")])
        assert await state(store) == before
        assert await store.registry.schema_id_max() == 1

    stage.run(scenario)


def test_a_repeated_change_registers_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_table(store)
        receipt = RequestReceipt(key="k", request="r", answer="done")
        move = await altering(store, await foreseen(store, "mine"))
        await store.tables.move_tables([move], receipt=receipt)
        before = await state(store)
        with pytest.raises(AnsweredBefore):
            await store.tables.move_tables([move], receipt=receipt)
        assert await state(store) == before

    stage.run(scenario)

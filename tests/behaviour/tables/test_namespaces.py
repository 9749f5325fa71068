"""Namespaces: nested, with properties, dropped only when empty."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.metadata.table_store import RECEIPT_KEPT_MS
from lakestream.model.table import PointerMove, RequestReceipt
from lakestream.model.table_errors import (
    AnsweredBefore,
    CommitConflict,
    NamespaceExists,
    NamespaceNotEmpty,
    UnknownNamespace,
)
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.tables.pointers import pointer


def test_a_namespace_keeps_its_properties(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("sales",), {"owner": "Åsa", "a.b": ""})
        assert await store.tables.namespace_properties(("sales",)) == {"owner": "Åsa", "a.b": ""}

    stage.run(scenario)


def test_children_are_listed_by_level(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        for namespace in [("b",), ("a",), ("a", "y"), ("a", "x"), ("a", "x", "deep"), ("a.x",)]:
            await store.tables.create_namespace(namespace, {})
        assert await store.tables.namespaces(()) == [("a",), ("a.x",), ("b",)]
        assert await store.tables.namespaces(("a",)) == [("a", "x"), ("a", "y")]
        assert await store.tables.namespaces(("b",)) == []

    stage.run(scenario)


def test_a_name_is_taken_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        made = await asyncio.gather(
            *(store.tables.create_namespace(("sales",), {"n": str(n)}) for n in range(5)), return_exceptions=True
        )
        assert sum(isinstance(one, NamespaceExists) for one in made) == 4

    stage.run(scenario)


def test_a_namespace_needs_its_parent(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(UnknownNamespace):
            await store.tables.create_namespace(("sales", "eu"), {})
        with pytest.raises(UnknownNamespace):
            await store.tables.namespaces(("sales",))
        with pytest.raises(UnknownNamespace):
            await store.tables.tables(("sales",))

    stage.run(scenario)


def test_only_an_empty_namespace_is_dropped(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {})
        await store.tables.create_namespace(("a", "b"), {})
        table = pointer("t", namespace=("a", "b"))
        await store.tables.move_tables([PointerMove(pointer=table, expected_location=None)])
        for full in [("a",), ("a", "b")]:
            with pytest.raises(NamespaceNotEmpty):
                await store.tables.drop_namespace(full)
        await store.tables.drop_table(table.id)
        await store.tables.drop_namespace(("a", "b"))
        await store.tables.drop_namespace(("a",))
        with pytest.raises(UnknownNamespace):
            await store.tables.drop_namespace(("a",))
        assert await store.tables.namespaces(()) == []

    stage.run(scenario)


def test_properties_change_only_from_what_was_read(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {"k": "1"})
        await store.tables.replace_namespace_properties(("a",), expected={"k": "1"}, properties={"k": "2"})
        with pytest.raises(CommitConflict):
            await store.tables.replace_namespace_properties(("a",), expected={"k": "1"}, properties={"k": "3"})
        assert await store.tables.namespace_properties(("a",)) == {"k": "2"}
        with pytest.raises(UnknownNamespace):
            await store.tables.replace_namespace_properties(("b",), expected={}, properties={})

    stage.run(scenario)


def test_a_repeated_request_is_not_carried_out_twice(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        receipt = RequestReceipt(key="k1", request="digest", answer="made")
        await store.tables.create_namespace(("a",), {}, receipt=receipt)
        await store.tables.drop_namespace(("a",))
        with pytest.raises(AnsweredBefore) as before:
            await store.tables.create_namespace(("a",), {}, receipt=receipt)
        assert before.value.receipt == receipt
        assert await store.tables.namespaces(()) == []

    stage.run(scenario)


def test_a_failed_request_leaves_no_receipt(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        receipt = RequestReceipt(key="k1", request="digest", answer="dropped")
        with pytest.raises(UnknownNamespace):
            await store.tables.drop_namespace(("a",), receipt=receipt)
        assert await store.tables.receipt("k1") is None
        await store.tables.create_namespace(("a",), {})
        await store.tables.drop_namespace(("a",), receipt=receipt)
        assert await store.tables.receipt("k1") == receipt

    stage.run(scenario)


def test_of_the_same_request_sent_many_times_at_once_one_is_carried_out(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        receipt = RequestReceipt(key="k", request="digest", answer="made")
        outcomes = await asyncio.gather(
            *(store.tables.create_namespace(("a",), {}, receipt=receipt) for _ in range(6)), return_exceptions=True
        )
        assert [type(one) for one in outcomes if one is not None] == [AnsweredBefore] * 5

    stage.run(scenario)


def test_old_receipts_go(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {}, receipt=RequestReceipt(key="old", request="", answer=""))
        stage.pass_time(RECEIPT_KEPT_MS + 1)
        await store.tables.create_namespace(("b",), {}, receipt=RequestReceipt(key="new", request="", answer=""))
        assert await store.tables.receipt("old") is None
        assert await store.tables.receipt("new") is not None

    stage.run(scenario)

"""Repairs of values that were set aside: asked once, answered once, forgotten after a while."""

import pytest

from lakestream.metadata.repair_store import ASKED_MAX, KEPT_MS
from lakestream.metadata.store import MetadataStore
from lakestream.model.repair import Repair, RepairState, TooManyRepairs
from tests.behaviour.metadata.stage import Stage

TOPIC = bytes(16)


def repair(number: int) -> Repair:
    return Repair(id=f"{number:026d}", topic=TOPIC, request='{"action":"retry"}')


def test_a_repair_waits_until_it_is_answered_and_only_the_first_answer_counts(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        repairs = store.repairs
        await repairs.ask(repair(2))
        await repairs.ask(repair(1))
        assert [one.id for one in await repairs.asked()] == [repair(1).id, repair(2).id]
        await repairs.answer(repair(1).id, RepairState.DONE, "{}")
        await repairs.answer(repair(1).id, RepairState.FAILED, "no")
        assert [one.id for one in await repairs.asked()] == [repair(2).id]
        found = await repairs.look(repair(1).id)
        assert found is not None
        assert (found.state, found.answer, found.topic) == (RepairState.DONE, "{}", TOPIC)
        assert await repairs.look(repair(3).id) is None

    stage.run(scenario)


def test_more_than_so_many_are_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        for number in range(ASKED_MAX):
            await store.repairs.ask(repair(number))
        with pytest.raises(TooManyRepairs):
            await store.repairs.ask(repair(ASKED_MAX))

    stage.run(scenario)


def test_answers_are_forgotten_after_a_while_and_questions_are_not(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        repairs = store.repairs
        await repairs.ask(repair(1))
        await repairs.ask(repair(2))
        await repairs.answer(repair(1).id, RepairState.DONE, "{}")
        stage.pass_time(KEPT_MS + 1_000)
        await repairs.ask(repair(3))
        assert await repairs.look(repair(1).id) is None
        assert [one.id for one in await repairs.asked()] == [repair(2).id, repair(3).id]

    stage.run(scenario)

"""Repairs are asked for in the stored form that the pipeline reads, and their outcomes are told as values."""

import asyncio
import json
from collections.abc import Callable, Coroutine

import pytest

from lakestream.administration.pipeline import Pipelines
from lakestream.administration.repairs import NoRepair, RepairCounts, RepairRequest, RepairRequests
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import UnknownTopic
from lakestream.model.repair import RepairAction, RepairState
from lakestream.model.topic import TopicSpec
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

TOPIC = b"t" * 16


def run(scenario: Callable[[MetadataStore, RepairRequests], Coroutine[None, None, None]]) -> None:
    async def with_store() -> None:
        clock = SystemClock()
        ids = Ids(clock, SystemChance())
        store = await open_store("sqlite:///:memory:", clock=clock, ids=ids)
        await store.create_topic(TopicSpec(id=TOPIC, name="orders", partitions=1))
        await scenario(store, RepairRequests(store, ids, Pipelines(store)))
        await store.close()

    asyncio.run(with_store())


def test_a_request_is_stored_as_the_pipeline_reads_it() -> None:
    async def scenario(store: MetadataStore, repairs: RepairRequests) -> None:
        await repairs.ask("orders", RepairRequest(action=RepairAction.DISCARD))
        await repairs.ask("orders", RepairRequest(action=RepairAction.RETRY, chosen=((0, 5),), fixes={(0, 5): b"x"}))
        assert [json.loads(one.request) for one in await store.repairs.asked()] == [
            {"action": "discard", "fixes": []},
            {"action": "retry", "fixes": [[0, 5, "eA=="]], "chosen": [[0, 5]]},
        ]

    run(scenario)


def test_an_outcome_has_counts_once_it_is_done_and_a_reason_if_it_failed() -> None:
    async def scenario(store: MetadataStore, repairs: RepairRequests) -> None:
        request = RepairRequest(action=RepairAction.RETRY)
        done, failed = await repairs.ask("orders", request), await repairs.ask("orders", request)
        waiting = await repairs.outcome(done)
        assert (waiting.state, waiting.counts, waiting.reason) == (RepairState.ASKED, None, None)
        await store.repairs.answer(done, RepairState.DONE, '{"repaired": 3, "remaining": 1}')
        await store.repairs.answer(failed, RepairState.FAILED, "the table is gone")
        assert (await repairs.outcome(done)).counts == RepairCounts(repaired=3, remaining=1)
        assert (await repairs.outcome(failed)).reason == "the table is gone"

    run(scenario)


def test_unknown_topics_and_repairs_are_refused() -> None:
    async def scenario(store: MetadataStore, repairs: RepairRequests) -> None:
        with pytest.raises(UnknownTopic):
            await repairs.ask("none", RepairRequest(action=RepairAction.RETRY))
        with pytest.raises(NoRepair):
            await repairs.outcome("none")

    run(scenario)

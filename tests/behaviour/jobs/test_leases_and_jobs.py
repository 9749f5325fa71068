"""Who may compact, what there is to do, and what becomes of jobs that nobody finished."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LEASE_MS_MAX
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.freshness import Freshness
from lakestream.model.place import Tail
from lakestream.model.table_errors import CompactionFenced, JobForgotten
from tests.behaviour.jobs.work import TTL_MS, set_up
from tests.behaviour.metadata.stage import Stage

DAY_MS = 86_400_000


def test_one_holder_at_a_time_and_a_higher_token_for_the_next(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first = await store.jobs.claim_compaction("a", TTL_MS)
        assert first is not None
        assert await store.jobs.claim_compaction("b", TTL_MS) is None
        assert await store.jobs.compaction_holder() == "a"
        assert await store.jobs.claim_compaction("a", TTL_MS) == first
        stage.pass_time(TTL_MS + 1)
        assert await store.jobs.compaction_holder() is None
        second = await store.jobs.claim_compaction("b", TTL_MS)
        assert second is not None
        assert second.token > first.token
        await store.jobs.leave_compaction(first)  # of no effect: it is not the current one
        assert await store.jobs.compaction_holder() == "b"
        await store.jobs.leave_compaction(second)
        third = await store.jobs.claim_compaction("a", TTL_MS)
        assert third is not None
        assert third.token > second.token

    stage.run(scenario)


def test_a_holder_that_slept_too_long_gets_a_new_token(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first = await store.jobs.claim_compaction("a", TTL_MS)
        stage.pass_time(TTL_MS + 1)
        again = await store.jobs.claim_compaction("a", TTL_MS)
        assert first is not None
        assert again is not None
        assert again.token > first.token

    stage.run(scenario)


def test_a_lease_from_before_the_clock_was_set_back_holds_up_nobody(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        killed = await store.jobs.claim_compaction("killed", TTL_MS)
        assert killed is not None
        stage.pass_time(-DAY_MS)
        assert await store.jobs.compaction_holder() is None
        successor = await store.jobs.claim_compaction("successor", TTL_MS)
        assert successor is not None
        assert successor.token > killed.token
        assert await store.jobs.compaction_holder() == "successor"
        assert await store.jobs.claim_compaction("killed", TTL_MS) is None
        with pytest.raises(CompactionFenced):
            await store.jobs.begin_jobs(killed.token, [])

    stage.run(scenario)


def test_a_holder_that_lives_on_keeps_its_token_when_the_clock_is_set_back(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first = await store.jobs.claim_compaction("a", TTL_MS)
        stage.pass_time(-DAY_MS)
        assert await store.jobs.claim_compaction("a", TTL_MS) == first
        assert await store.jobs.claim_compaction("b", TTL_MS) is None

    stage.run(scenario)


def test_one_with_short_leases_waits_for_one_with_long_leases(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.jobs.claim_compaction("long", LEASE_MS_MAX) is not None
        assert await store.jobs.claim_compaction("short", 1_000) is None
        assert await store.jobs.compaction_holder() == "long"

    stage.run(scenario)


def test_only_partitions_with_something_to_do_are_in_debt(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.jobs.debts() == []
        work = await set_up(stage, store, 1, 2, 3, partitions=2)
        await stage.topic(store)  # idle
        debts = await store.jobs.debts()
        assert [(debt.topic, debt.number, debt.spans, debt.bytes) for debt in debts] == [
            (work.topic.id, 0, 3, 300),
            (work.topic.id, 1, 3, 300),
        ]
        assert debts[0].tail == Tail(0, 30, 0)
        assert {debt.table for debt in debts} == {work.pointer.id}
        assert 0 <= stage.clock.wall_ms() - debts[0].oldest_ms < 60_000
        await work.compact(30)
        assert await store.jobs.debts() == []
        await work.produce(4)
        assert [(debt.spans, debt.tail) for debt in await store.jobs.debts()] == [(1, Tail(0, 40, 30))] * 2

    stage.run(scenario)


def test_what_lies_in_the_log_is_listed_in_order_with_running_times(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 9, 3, partitions=2)
        await work.compact(10)
        found = await store.jobs.untabled_spans(work.topic.partitions, 10)
        assert set(found) == set(work.topic.partitions)
        spans = found[work.partition]
        assert [(each.span.base_offset, each.running_max_timestamp_ms) for each in spans] == [(10, 9), (20, 9)]
        assert [each.span.segment for each in spans] == work.segments[1:]
        (first,) = (await store.jobs.untabled_spans([work.partition], 1))[work.partition]
        assert first == spans[0]

    stage.run(scenario)


def test_topics_without_a_table_are_found(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await set_up(stage, store)
        bare = await stage.topic(store)
        assert await store.jobs.topics_without_table() == [bare.id]

    stage.run(scenario)


def test_a_wish_lasts_until_it_is_granted_or_its_topic_is_gone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        one, other = await stage.topic(store), await stage.topic(store)
        await store.jobs.ask_compaction([one.id, other.id])
        await store.jobs.ask_compaction([one.id])
        assert await store.jobs.asked_compactions() == {one.id, other.id}
        await store.jobs.answer_compactions([one.id], await store.now_ms())
        assert await store.jobs.asked_compactions() == {other.id}
        await store.delete_topic(other.id)
        assert await store.jobs.asked_compactions() == frozenset()

    stage.run(scenario)


def test_an_answer_grants_no_wish_that_came_later(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        await store.jobs.ask_compaction([topic.id])
        seen_ms = await store.now_ms()
        while await store.now_ms() <= seen_ms:
            await asyncio.sleep(0.001)
        await store.jobs.ask_compaction([topic.id])
        await store.jobs.answer_compactions([topic.id], seen_ms)
        assert await store.jobs.asked_compactions() == {topic.id}
        await store.jobs.answer_compactions([topic.id], await store.now_ms())
        assert await store.jobs.asked_compactions() == frozenset()

    stage.run(scenario)


def test_a_debt_tells_how_fresh_its_topic_wants_its_table(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        assert [debt.freshness for debt in await store.jobs.debts()] == [None]
        edit = ConfigEdit(ConfigOperation.SET, "lakestream.freshness", "on-read")
        await store.edit_topic_config(work.topic.id, [edit], check_topic_config)
        assert [debt.freshness for debt in await store.jobs.debts()] == [Freshness.ON_READ]

    stage.run(scenario)


def test_a_new_holder_finds_what_the_old_one_left_planned(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        left, finished = await work.begin(), await work.begin()
        await store.jobs.commit_job(work.commit(finished, 10))
        assert await store.jobs.drop_left_jobs(work.lease.token) == []
        stage.pass_time(TTL_MS + 1)
        successor = await store.jobs.claim_compaction("b", TTL_MS)
        assert successor is not None
        assert await store.jobs.drop_left_jobs(successor.token) == [(left, work.pointer.id)]
        assert await store.jobs.drop_left_jobs(successor.token) == []

    stage.run(scenario)


def test_dropped_jobs_are_remembered_until_they_are_swept(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        dropped, finished = await work.begin(), await work.begin()
        await store.jobs.drop_job(dropped)
        commit = work.commit(finished, 10)
        location = await store.jobs.commit_job(commit)
        assert await store.jobs.old_dropped_jobs(5_000, 10) == []
        await store.jobs.forget_jobs(5_000, [finished])  # neither dropped nor old
        assert await store.jobs.commit_job(commit) == location
        stage.pass_time(5_001)
        assert await store.jobs.old_dropped_jobs(5_000, 10) == [(dropped, work.pointer.id)]
        await store.jobs.forget_jobs(5_000, [dropped])
        assert await store.jobs.old_dropped_jobs(5_000, 10) == []

    stage.run(scenario)


def test_a_job_that_nobody_remembers_may_have_been_committed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        finished, never = await work.begin(), stage.ids.ulid()
        commit = work.commit(finished, 10)
        await store.jobs.commit_job(commit)
        stage.pass_time(5_001)
        await store.jobs.forget_jobs(5_000, [])
        for job in (finished, never):
            assert not await store.jobs.drop_job(job)
            with pytest.raises(JobForgotten):
                await store.jobs.commit_job(work.commit(job, 20, start=10))
        with pytest.raises(JobForgotten):
            await store.jobs.commit_job(commit)
        assert await work.location() == commit.move.pointer.metadata_location

    stage.run(scenario)

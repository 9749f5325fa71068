"""Committed jobs are forgotten after a while. Whoever asks for one later is told so, and deletes nothing of it."""

import asyncio

import pytest

from lakestream.model.errors import StoreUnavailable
from lakestream.model.job import JobCommit
from lakestream.model.repair import Repair, RepairState
from lakestream.table.resting import SECONDS_FIRST
from lakestream.table.upkeep.dropped_jobs import DROPPED_KEPT_MS
from tests.unit.compaction.site import TTL_MS, Passing, Site, run
from tests.unit.compaction.test_faults import check, filled, with_commit
from tests.unit.compaction.test_typed import ORDER, WITH_NOTE, avro, record, registered


async def another_works_until_they_are_forgotten(site: Site) -> None:
    """And stops then: the lease is anyone's."""
    site.clock.ahead_ms += TTL_MS + 1
    successor = site.pipeline()
    await successor.round(await site.lease("successor"))
    site.clock.ahead_ms += DROPPED_KEPT_MS + 1
    lease = await site.lease("successor")
    await successor.sweep()
    await site.store.jobs.leave_compaction(lease)


def test_a_job_that_was_committed_unanswered_keeps_its_files_when_it_is_forgotten() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)

        async def silent(commit: JobCommit) -> str:
            await site.store.jobs.commit_job(commit)
            raise StoreUnavailable("nobody answers")

        pipeline = site.pipeline(store=with_commit(site, silent))
        with pytest.raises(StoreUnavailable):
            await pipeline.round(await site.lease())
        await another_works_until_they_are_forgotten(site)
        await pipeline.round(await site.lease())
        await check(site, topic)

    run(scenario)


def test_a_pipeline_that_slept_until_its_commit_was_forgotten_takes_nothing_of_it_back() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)
        asleep, awake = asyncio.Event(), asyncio.Event()

        async def cut_off(commit: JobCommit) -> str:
            location = await site.store.jobs.commit_job(commit)
            asleep.set()
            if not awake.is_set():
                await awake.wait()
                raise StoreUnavailable("the connection is gone")
            return location

        pipeline = site.pipeline(store=with_commit(site, cut_off))
        sleeping = asyncio.ensure_future(pipeline.round(await site.lease()))
        await asleep.wait()
        await another_works_until_they_are_forgotten(site)
        awake.set()
        assert (await sleeping).committed == 0
        await check(site, topic)

    run(scenario)


@pytest.mark.parametrize("told", [False, True])
def test_a_repair_that_was_committed_keeps_its_files_when_its_job_is_forgotten(told: bool) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="avro")
        first = await registered(site, ORDER)
        late = avro(first + 1, WITH_NOTE, {"id": 7, "item": "b", "price": None, "note": "late"})
        await site.produce(topic.partitions[0], [record(late)])

        async def silent(commit: JobCommit) -> str:
            await site.store.jobs.commit_job(commit)
            if told:
                await another_works_until_they_are_forgotten(site)
                return await site.store.jobs.commit_job(commit)
            raise StoreUnavailable("nobody answers")

        await site.round()
        await registered(site, WITH_NOTE)
        asked = Repair(id=site.ids.ulid(), topic=topic.id, request='{"action": "retry"}')
        await site.store.repairs.ask(asked)
        clock = Passing()
        pipeline = site.pipeline(store=with_commit(site, silent), clock=clock)
        if told:
            await site.round(pipeline)
        else:
            with pytest.raises(StoreUnavailable):
                await site.round(pipeline)
            await another_works_until_they_are_forgotten(site)
        clock.passed += SECONDS_FIRST
        await site.round(pipeline)
        answered = await site.store.repairs.look(asked.id)
        assert answered is not None
        assert answered.state is RepairState.DONE
        assert [row["note"] for row in await site.table(topic)] == ["late"]
        assert await site.referred(topic) <= await site.keys()

    run(scenario)

"""Whatever ends a job, at whatever step: no row is missing or doubled, and no file of a job is left behind."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.model.errors import StoreUnavailable
from lakestream.model.job import JobCommit
from lakestream.model.place import Tail
from lakestream.model.table_errors import CommitConflict, CompactionFenced
from lakestream.model.topic import Topic
from lakestream.table.compaction.rewrite import rewrite_task
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.pipeline import Pipeline
from lakestream.table.upkeep.dropped_jobs import DROPPED_KEPT_MS
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import Fate, Killed, MortalObjects, MortalVerbs
from tests.unit.compaction.site import TTL_MS, InThisProcess, Site, rows, run

PARTITIONS = 2
RECORDS = 20
EXPECTED = [(number, offset) for number in range(PARTITIONS) for offset in range(RECORDS)]


async def filled(site: Site) -> Topic:
    topic = await site.topic(partitions=PARTITIONS)
    for partition in topic.partitions:
        for first in range(0, RECORDS, 10):
            await site.produce(partition, rows(10, base=first))
    return topic


def mortal(site: Site, fate: Fate) -> Pipeline:
    store: Any = MortalVerbs(site.store, fate)
    objects: Any = MortalObjects(site.objects, fate)
    return site.pipeline(store=store, objects=objects, rewriter=InThisProcess(objects))


async def settle(site: Site) -> None:
    """Another pipeline takes over, works until nothing is left to do, and sweeps."""
    site.clock.ahead_ms += TTL_MS + 1
    pipeline = site.pipeline()
    lease = await site.lease("successor")
    while not (await pipeline.round(lease)).was_idle:
        pass
    await pipeline.sweep()
    site.clock.ahead_ms += DROPPED_KEPT_MS + 1


async def check(site: Site, topic: Topic) -> None:
    """Table and topic hold every record once, and every file that lies there is referred to."""
    for branch in ("main", "log"):
        assert [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)] == EXPECTED
    for partition in topic.partitions:
        assert [row["offset"] for row in await site.read(partition)] == list(range(RECORDS))
        view = await site.view(partition)
        assert view.tail == Tail(0, RECORDS, RECORDS)
    assert await site.keys("tables/") - await site.referred(topic) == set()
    referred = {file.rpartition("/")[2] for file in await site.files(topic, "log")}
    jobs = {key.split("/")[-2] for key in await site.keys("tables/") if key.endswith(".parquet")}
    assert {key.rpartition("/")[2] for key in await site.keys("tables/") if key.endswith(".parquet")} == referred
    assert {key.split("/")[-2] for key in await site.keys("tables/") if key.endswith("ledger.json")} == jobs


def test_a_pipeline_killed_at_any_step_leaves_nothing_missing_doubled_or_behind() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        topic = await filled(site)
        await mortal(site, fate).round(await site.lease())
        await check(site, topic)

    run(whole)
    assert {"begin_jobs", "commit_job", "put parquet", "put avro", "put json"} <= set(fate.calls)

    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await filled(site)
                with pytest.raises(BaseException) as died:
                    await mortal(site, Fate(at=at, after=after)).round(await site.lease())
                assert "Killed" in repr(died.value), f"at {fate.calls[at]}"
                await settle(site)
                await check(site, topic)

            run(killed)


def test_a_paused_pipeline_that_wakes_changes_nothing() -> None:
    """It sleeps after its files are written, until another one has done the work."""

    class Sleeping(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            asleep.set()
            await awake.wait()
            return results

    asleep, awake = asyncio.Event(), asyncio.Event()

    async def scenario(site: Site) -> None:
        topic = await filled(site)
        zombie = site.pipeline(rewriter=Sleeping(site.objects))
        lease = await site.lease("zombie")
        sleeping = asyncio.ensure_future(zombie.round(lease))
        await asleep.wait()
        await settle(site)
        before = (await site.metadata(topic), await site.view(topic.partitions[0]))
        awake.set()
        assert (await sleeping).committed == 0
        with pytest.raises(CompactionFenced):
            await site.store.jobs.begin_jobs(lease.token, [])
        assert (await site.metadata(topic), await site.view(topic.partitions[0])) == before
        await check(site, topic)

    run(scenario)


def test_files_that_a_worker_writes_after_its_job_was_dropped_go_as_well() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)
        with pytest.raises(BaseException, match="commit_job"):
            fate = Fate()
            fate.live = _dying_at(fate, "commit_job")  # type: ignore[method-assign]
            await mortal(site, fate).round(await site.lease())
        (late,) = {key.rpartition("/")[0] for key in await site.keys("tables/") if key.endswith(".parquet")}
        await settle(site)
        await site.objects.put(f"{late}/00007-0.parquet", [b"late"])
        await site.pipeline().sweep()
        await check(site, topic)

    run(scenario)


def _dying_at(fate: Fate, name: str) -> Any:
    live = fate.live

    async def one(called: str, act: Any) -> Any:
        if called == name:
            raise Killed(name)
        return await live(called, act)

    return one


# --- what the store answers --------------------------------------------------------------------------


class Answering:
    """`jobs` with another commit_job."""

    def __init__(self, inner: Any, commit_job: Any) -> None:
        self._inner = inner
        self.commit_job = commit_job

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def with_commit(site: Site, commit_job: Any) -> Any:
    store = Answering(site.store, None)
    store.jobs = Answering(site.store.jobs, commit_job)
    return store


def test_a_commit_whose_answer_was_lost_is_asked_again_and_counts_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)
        asked: list[JobCommit] = []

        async def lossy(commit: JobCommit) -> str:
            asked.append(commit)
            location = await site.store.jobs.commit_job(commit)
            if len(asked) < 3:
                raise StoreUnavailable("the answer was lost")
            return location

        done = await site.pipeline(store=with_commit(site, lossy)).round(await site.lease())
        assert (done.committed, len(asked)) == (1, 3)
        await check(site, topic)

    run(scenario)


@pytest.mark.parametrize("happened", [False, True])
def test_a_commit_whose_fate_stays_unknown_is_settled_by_the_next_round(happened: bool) -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)

        away = True

        async def silent(commit: JobCommit) -> str:
            location = await site.store.jobs.commit_job(commit) if happened or not away else ""
            if away:
                raise StoreUnavailable("nobody answers")
            return location

        pipeline = site.pipeline(store=with_commit(site, silent))
        lease = await site.lease()
        with pytest.raises(StoreUnavailable):
            await pipeline.round(lease)
        away = False
        done = await pipeline.round(lease)
        assert done.committed == (0 if happened else 1)
        await pipeline.sweep()  # what the commit had written that was not made
        await check(site, topic)

    run(scenario)


def test_a_stranger_who_commits_in_between_is_given_way() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)
        conflicts = 0

        async def contended(commit: JobCommit) -> str:
            nonlocal conflicts
            conflicts += 1
            if conflicts < 4:
                raise CommitConflict("someone else was faster")
            return await site.store.jobs.commit_job(commit)

        done = await site.pipeline(store=with_commit(site, contended)).round(await site.lease())
        assert (done.committed, conflicts) == (1, 4)
        await check(site, topic)
        manifests = [key for key in await site.keys("tables/") if key.endswith("-m0.avro")]
        assert len(manifests) == 1, "what the refused attempts wrote is gone"

    run(scenario)


def test_one_who_never_gives_way_costs_the_job_and_not_the_records() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)

        async def refused(commit: JobCommit) -> str:
            raise CommitConflict("someone else was faster")

        done = await site.pipeline(store=with_commit(site, refused)).round(await site.lease())
        assert (done.committed, done.failed) == (0, 1)
        assert not [key for key in await site.keys("tables/") if key.endswith((".parquet", "ledger.json"))]
        await settle(site)
        await check(site, topic)

    run(scenario)


# --- the workers -------------------------------------------------------------------------------------


def test_a_round_that_the_engine_did_not_finish_is_dropped_and_done_again() -> None:
    class Failing(InThisProcess):
        is_gone = True

        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            if self.is_gone:
                raise RewriteFailed("Java is gone")
            return results

    async def scenario(site: Site) -> None:
        topic = await filled(site)
        engine = Failing(site.objects)
        pipeline = site.pipeline(rewriter=engine)
        lease = await site.lease()
        with pytest.raises(RewriteFailed):
            await pipeline.round(lease)
        engine.is_gone = False
        assert (await pipeline.round(lease)).committed == 1
        await check(site, topic)

    run(scenario)


def test_what_an_earlier_attempt_of_a_task_wrote_goes_before_the_commit() -> None:
    class Retried(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            await super().rewrite(tasks)  # and the worker dies before it can tell
            return [
                await rewrite_task(task, objects=self._objects, threads=InlineThreads(), attempt=1) for task in tasks
            ]

    async def scenario(site: Site) -> None:
        topic = await filled(site)
        assert (await site.pipeline(rewriter=Retried(site.objects)).round(await site.lease())).committed == 1
        await check(site, topic)

    run(scenario)


def test_what_a_worker_that_was_given_up_writes_after_the_commit_goes_as_well() -> None:
    class GivenUp(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            self.tasks += tasks
            return [
                await rewrite_task(task, objects=self._objects, threads=InlineThreads(), attempt=1) for task in tasks
            ]

    async def scenario(site: Site) -> None:
        topic = await filled(site)
        workers = GivenUp(site.objects)
        pipeline = site.pipeline(rewriter=workers)
        assert (await pipeline.round(await site.lease())).committed == 1
        for task in workers.tasks:
            await rewrite_task(task, objects=site.objects, threads=InlineThreads(), attempt=0)
        await pipeline.sweep()
        site.clock.ahead_ms += DROPPED_KEPT_MS + 1
        await pipeline.sweep()
        await check(site, topic)

    run(scenario)


def test_what_a_given_up_worker_wrote_goes_also_if_its_pipeline_died_meanwhile() -> None:
    async def scenario(site: Site) -> None:
        topic = await filled(site)
        assert (await site.round()).committed == 1
        for task in site.rewriter.tasks:  # late, and nobody who is alive knows of it
            await rewrite_task(task, objects=site.objects, threads=InlineThreads(), attempt=1)
        assert await site.keys("tables/") - await site.referred(topic)
        await site.pipeline().sweep()
        assert await site.keys("tables/") - await site.referred(topic), "a job that young may be under way"
        site.clock.ahead_ms += 25 * 3_600_000
        await site.pipeline().sweep()
        await check(site, topic)

    run(scenario)


def test_a_file_that_is_gone_before_the_commit_is_never_committed() -> None:
    class Losing(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            await self._objects.delete([f"{task.folder_key}/00000-0.parquet" for task in tasks])
            return results

    async def scenario(site: Site) -> None:
        topic = await filled(site)
        assert (await site.pipeline(rewriter=Losing(site.objects)).round(await site.lease())).failed == 1
        assert await site.places(topic.partitions[0]) == "ww"
        written = await site.keys("tables/") - await site.referred(topic)
        assert not [key for key in written if "/metadata/" in key], "its commit is taken back at once"
        await settle(site)
        await check(site, topic)

    run(scenario)


# --- the topic meanwhile -----------------------------------------------------------------------------


def test_a_topic_deleted_during_its_job_leaves_its_table_and_no_files_of_the_job() -> None:
    class Deleting(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            if tasks[0].is_probe:
                return results
            (topic,) = (await store.topics()).topics
            await store.delete_topic(topic.id)
            return results

    store: Any = None

    async def scenario(site: Site) -> None:
        nonlocal store
        store = site.store
        await filled(site)
        done = await site.pipeline(rewriter=Deleting(site.objects)).round(await site.lease())
        assert (done.committed, done.failed) == (0, 1)
        assert not [key for key in await site.keys("tables/") if key.endswith((".parquet", "ledger.json"))]
        assert [found.name for found in await site.store.tables.tables(("streams",))] == ["orders"]

    run(scenario)

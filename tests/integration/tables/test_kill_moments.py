"""A pipeline killed between any two writes of a job: nothing is missing, doubled or left behind.

The job has everything that a job can have: a table whose `main` has gone its own way, so that each branch gets its
snapshot, records that retention has let go of, and files that only forgotten snapshots reach. After the job, a merge
takes the place of the files that are left, which the expiry of those snapshots then deletes.
"""

import asyncio
import json
import multiprocessing
import shutil
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path

from lakestream.model.place import Tail
from lakestream.table.upkeep.dropped_jobs import DROPPED_KEPT_MS
from tests.integration.tables.dying_pipeline import open_site, work
from tests.unit.compaction.site import TTL_MS, Site, rows

PARTITIONS = 2
LOG_START = 10
LOG_END = 40
DAY_MS = 25 * 3_600_000
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.integration.tables.dying_pipeline"])
SECONDS_MAX = 60


def process(folder: Path, at: int | None = None) -> int:
    """Its exit code."""
    one = _PROCESSES.Process(target=work, args=(folder, at))
    one.start()
    one.join(SECONDS_MAX)
    assert one.exitcode is not None, "it hangs"
    return one.exitcode


def fill(folder: Path) -> None:
    """A topic with a table that has a past, and a job to do."""
    (folder / "objects").mkdir(parents=True)

    async def filled(site: Site) -> None:
        topic = await site.topic(partitions=PARTITIONS)
        for base in range(0, LOG_END - 10, 10):
            await produce(site, base)
            await site.round(site.pipeline())
            if not base:
                await site.stranger_changes_main(topic)
        for partition in topic.partitions:
            await site.store.delete_records(partition, LOG_START)
        await produce(site, LOG_END - 10)

    on(folder, filled)


async def produce(site: Site, base: int) -> None:
    (topic,) = (await site.store.topics()).topics
    for partition in topic.partitions:
        await site.produce(partition, rows(10, base=base))


def on(folder: Path, act: Callable[[Site], Coroutine[None, None, None]]) -> None:
    async def opened() -> None:
        site = await open_site(folder)
        try:
            await act(site)
        finally:
            await site.tasks.close()
            await site.store.close()

    asyncio.run(opened())


async def settle_and_check(site: Site) -> None:
    """Another process takes over, a day passes, and everything is as if nobody had died."""
    site.clock.ahead_ms += TTL_MS + 1
    pipeline = site.pipeline(grace_ms=0)
    lease = await site.lease("successor")
    while not (await pipeline.round(lease)).was_idle:
        pass
    for passing_ms in (0, DROPPED_KEPT_MS + 1, DAY_MS):
        site.clock.ahead_ms += passing_ms
        pipeline = site.pipeline(grace_ms=0)
        await pipeline.upkeep()
        await pipeline.sweep()
    (topic,) = (await site.store.topics()).topics
    expected = [(number, offset) for number in range(PARTITIONS) for offset in range(LOG_START, LOG_END)]
    for branch in ("log", "main"):
        assert [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)] == expected
    for partition in topic.partitions:
        assert [row["offset"] for row in await site.read(partition)] == list(range(LOG_START, LOG_END))
        assert (await site.view(partition)).tail == Tail(LOG_START, LOG_END, LOG_END)
    there, referred = await site.keys("tables/"), await site.referred(topic)
    living = {key.rpartition("/")[0] for key in there if key.endswith(".parquet")}
    ledgers = {f"{folder}/ledger.json" for folder in living}
    assert there - referred - ledgers == set(), "left behind"
    assert {key for key in referred if key.endswith(".parquet")} <= there


def test_a_pipeline_killed_between_any_two_writes_of_a_job_loses_doubles_and_leaves_nothing(tmp_path: Path) -> None:
    lake, before = tmp_path / "lake", tmp_path / "before"
    fill(lake)
    lake.rename(before)  # tables know where they lie, so that every life is played in the same place
    shutil.copytree(before, lake)
    assert process(lake) == 0
    writes = json.loads((lake / "writes.json").read_text())
    kinds = {"begin_jobs", "put 00000-0.parquet", "put ledger.json", "commit_job", "move_tables", "delete"}
    assert kinds <= set(writes), writes
    assert (writes.count("put 00000-0.parquet"), writes.count("commit_job")) == (2, 2), "a job and a merge"
    on(lake, settle_and_check)
    for at, name in enumerate(writes):
        shutil.rmtree(lake)
        shutil.copytree(before, lake)
        assert process(lake, at) == -signal.SIGKILL, name
        try:
            on(lake, settle_and_check)
        except AssertionError as error:
            raise AssertionError(f"killed before write {at} of {writes}: {error}") from error

"""One topic with which something is wrong, among others: these go on, and it is tried again, ever more seldom."""

import json
from collections.abc import Sequence

import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.model.errors import StoreUnavailable
from lakestream.model.job import JobCommit
from lakestream.model.repair import Repair, RepairState
from lakestream.model.topic import Topic
from lakestream.storage.wal.segment import segment_key
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.resting import ASKED_SECONDS_MAX, SECONDS_FIRST, SECONDS_MAX
from lakestream.table.upkeep.dropped_jobs import DROPPED_KEPT_MS
from lakestream.world.objects.store import Buffer
from tests.unit.compaction.site import InThisProcess, Passing, Site, rows, run


async def topics(site: Site, *names: str) -> list[Topic]:
    """Each with records in its table, and more that wait."""
    made = [await site.topic(name) for name in names]
    for topic in made:
        await site.produce(topic.partitions[0], rows(5))
    await site.round()
    for topic in made:
        await site.produce(topic.partitions[0], rows(5))
    return made


async def folder(site: Site, topic: Topic) -> str:
    """Where the files of the topic's jobs are."""
    return TableObjects(site.objects).log_folder((await site.pointer(topic)).id)


async def in_table(site: Site, *those: Topic) -> list[bool]:
    return ["w" not in await site.places(topic.partitions[0]) for topic in those]


async def data_files(site: Site) -> int:
    return len([key for key in await site.keys("tables/") if key.endswith(".parquet")])


def test_a_table_whose_metadata_file_is_gone_holds_up_no_other_topic() -> None:
    async def scenario(site: Site) -> None:
        good, bad, other = await topics(site, "good", "bad", "other")
        lost = (await site.pointer(bad)).metadata_location
        await TableObjects(site.objects).delete([lost])
        done = await site.round(site.pipeline())  # a new process, which has nothing in mind
        assert (done.committed, done.failed) == (2, 1)
        assert await in_table(site, good, bad, other) == [True, False, True]

    run(scenario)


class Deadly(InThisProcess):
    """Whoever rewrites the topic dies, and the engine gives up on all that was asked of it."""

    def __init__(self, site: Site, folder: str) -> None:
        super().__init__(site.objects)
        self._folder = folder
        self.runs = 0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        self.runs += 1
        results = await super().rewrite(tasks)
        if any(task.folder.startswith(self._folder) for task in tasks):
            raise RewriteFailed("a worker died four times")
        return results


def test_a_topic_that_ends_its_workers_is_found_and_all_others_are_compacted() -> None:
    async def scenario(site: Site) -> None:
        many = await topics(site, *(f"t{number:02d}" for number in range(20)))
        engine = Deadly(site, await folder(site, many[7]))
        done = await site.round(site.pipeline(rewriter=engine))
        assert (done.committed, done.failed) == (19, 1)
        assert await in_table(site, *many) == [number != 7 for number in range(20)]
        assert engine.runs < 20, "found by halves, not one by one"
        assert await data_files(site) == 20 + 19

    run(scenario)


def test_a_topic_that_ends_its_workers_is_found_also_when_it_is_alone() -> None:
    async def scenario(site: Site) -> None:
        (bad,) = await topics(site, "bad")
        done = await site.round(site.pipeline(rewriter=Deadly(site, await folder(site, bad))))
        assert (done.committed, done.failed) == (0, 1)

    run(scenario)


def test_an_error_that_nobody_thought_of_is_its_topics_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(site: Site) -> None:
        good, bad = await topics(site, "good", "bad")
        place, put = TableObjects(site.objects).key_of(await folder(site, bad)), site.objects.put

        async def surprising(key: str, parts: Sequence[Buffer]) -> None:
            if key.startswith(place):
                raise ValueError("offset overflow while concatenating arrays")
            await put(key, parts)

        monkeypatch.setattr(site.objects, "put", surprising)
        done = await site.round(site.pipeline())
        assert (done.committed, done.failed) == (1, 1)
        assert await in_table(site, good, bad) == [True, False]

    run(scenario)


def test_a_store_that_answers_for_others_does_not_break_the_round_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(site: Site) -> None:
        good, bad = await topics(site, "good", "bad")
        table = (await site.pointer(bad)).id
        commit = site.store.jobs.commit_job

        async def partly(asked: JobCommit) -> str:
            if asked.move.pointer.id == table:
                raise StoreUnavailable("this row cannot be read")
            return await commit(asked)

        clock = Passing()
        pipeline = site.pipeline(clock=clock)
        with monkeypatch.context() as patch:
            patch.setattr(site.store.jobs, "commit_job", partly)
            done = await site.round(pipeline)
            assert (done.committed, done.failed) == (1, 1)
        clock.passed += SECONDS_FIRST
        assert (await site.round(pipeline)).committed == 1
        assert await in_table(site, good, bad) == [True, True]

    run(scenario)


def test_a_repair_that_ends_its_workers_fails_and_holds_up_no_topic() -> None:
    async def scenario(site: Site) -> None:
        (good,) = await topics(site, "good")
        bad = await site.topic("bad", lakestream_value_format="json")
        values = [b'{"n": 1}', b"junk"]
        await site.produce(bad.partitions[0], [rows(1)[0] | {"value": value} for value in values])
        await site.round()
        assert [row["__offset"] for row in await site.table(bad, "quarantine")] == [1]
        await site.produce(good.partitions[0], rows(5))
        repair = Repair(id=site.ids.ulid(), topic=bad.id, request='{"action": "retry"}')
        await site.store.repairs.ask(repair)
        done = await site.round(site.pipeline(rewriter=Deadly(site, await folder(site, bad))))
        assert (done.committed, done.failed) == (1, 0)
        answered = await site.store.repairs.look(repair.id)
        assert answered is not None
        assert answered.state is RepairState.FAILED
        assert "a worker died" in (answered.answer or "")

    run(scenario)


def test_a_repair_for_which_the_store_does_not_answer_keeps_compaction_waiting_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(site: Site) -> None:
        (good,) = await topics(site, "good")
        repair = Repair(id=site.ids.ulid(), topic=good.id, request='{"action": "retry"}')
        await site.store.repairs.ask(repair)
        clock = Passing()
        pipeline = site.pipeline(clock=clock)

        async def silent(self: TopicCommits, *asked: object) -> None:
            raise StoreUnavailable("the manifest cannot be read")

        with monkeypatch.context() as patch:
            patch.setattr(TopicCommits, "branch_files", silent)
            with pytest.raises(StoreUnavailable):
                await site.round(pipeline)
            assert (await site.round(pipeline)).committed == 1
        clock.passed += SECONDS_FIRST
        await site.round(pipeline)
        assert await site.store.repairs.asked() == []

    run(scenario)


def test_a_table_that_someone_has_edited_by_hand_holds_up_no_others_upkeep() -> None:
    async def scenario(site: Site) -> None:
        bad, good = await topics(site, "bad", "good")
        for topic in (bad, good):
            await site.store.delete_records(topic.partitions[0], 5)
        edited = await site.metadata(bad) | {"last-updated-ms": "yesterday"}
        locations, location = TableObjects(site.objects), (await site.pointer(bad)).metadata_location
        await locations.delete([location])
        await locations.write(location, json.dumps(edited).encode())
        pipeline = site.pipeline()
        await pipeline.upkeep()
        await pipeline.sweep()
        assert await site.files(good, "log") == []

    run(scenario)


# --- tried again -------------------------------------------------------------------------------------


def test_a_topic_that_fails_is_tried_ever_more_seldom_also_if_someone_waits_for_it() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        lost = await site.produce(topic.partitions[0], rows(5))
        content = bytes(await site.objects.get(segment_key(lost)))
        await site.objects.delete([segment_key(lost)])
        clock, metrics = Passing(), PipelineMetrics()
        pipeline = site.pipeline(clock=clock, metrics=metrics)

        async def attempts(seconds: float) -> int:
            failed = 0
            for _ in range(int(seconds)):
                failed += (await site.round(pipeline)).failed
                clock.passed += 1
            return failed

        assert await attempts(10 * SECONDS_MAX) in range(10, 16)
        assert metrics.registry.get_sample_value("lakestream_table_failing_topics") == 1
        await site.store.jobs.ask_compaction([topic.id])
        assert await attempts(10 * ASKED_SECONDS_MAX) == 10, "not with every look"
        await site.objects.put(segment_key(lost), [content])
        clock.passed += ASKED_SECONDS_MAX
        assert (await site.round(pipeline)).committed == 1
        assert metrics.registry.get_sample_value("lakestream_table_failing_topics") == 0

    run(scenario)


class CutShort(InThisProcess):
    """Files are written, and the result says that the task failed."""

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        return [
            TaskResult(job=result.job, number=result.number, attempt=0, error="too late")
            for result in await super().rewrite(tasks)
        ]


def test_files_that_could_not_be_deleted_are_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(site: Site) -> None:
        await topics(site, "orders")
        pipeline = site.pipeline(rewriter=CutShort(site.objects))

        async def refuse(keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
            raise StoreUnavailable("not now")

        with monkeypatch.context() as patch:
            patch.setattr(site.objects, "delete", refuse)
            assert (await site.round(pipeline)).failed == 1
            site.clock.ahead_ms += DROPPED_KEPT_MS + 1
            await pipeline.sweep()
        assert await data_files(site) == 2
        await pipeline.sweep()
        assert await data_files(site) == 1

    run(scenario)

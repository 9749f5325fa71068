"""`main` is made again from `log`: after damage, under another layout, killed at any step, while rows go on coming."""

import json
from typing import Any

import pytest

from lakestream.administration.pipeline import Pipelines
from lakestream.administration.repairs import NoRepair
from lakestream.administration.topics.rebuilds import Rebuilds
from lakestream.catalog.strangers.guards import check_change
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.model.repair import MERGE_REQUEST, REBUILD_REQUEST, Repair, RepairState
from lakestream.model.table_errors import Guarded
from lakestream.model.topic import Topic
from lakestream.table.pipeline import Pipeline
from tests.unit.clustering.test_clustering import (
    LAYOUT,
    NO_BOUND,
    changed,
    clustered,
    contents,
    filled,
    json_topic,
    no_file_is_left,
    plain,
)
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import TTL_MS, InThisProcess, Site, run

STEPS_MAX = 20


async def asked(site: Site, topic: Topic, request: str = REBUILD_REQUEST) -> str:
    repair = Repair(id=site.ids.ulid(), topic=topic.id, request=request)
    await site.store.repairs.ask(repair)
    return repair.id


async def answer_of(site: Site, id: str) -> tuple[RepairState, str]:
    found = await site.store.repairs.look(id)
    assert found is not None
    return found.state, found.answer or ""


async def rebuilt(site: Site, pipeline: Pipeline, holder: str = "a") -> None:
    for _ in range(STEPS_MAX):
        if not await pipeline.rebuild(await site.lease(holder)):
            return
    raise AssertionError("the rebuild does not come to an end")


async def lost_from_main(site: Site, topic: Topic, file: str) -> None:
    """As a DELETE of a whole file by any engine."""
    pointer = await site.pointer(topic)
    prepared = await site.commits().cluster(pointer, {file}, [], summary={})
    await site.store.tables.move_tables([prepared.move])


async def refs(site: Site, topic: Topic) -> set[str]:
    return set((await site.metadata(topic))["refs"])


def test_rows_that_main_has_lost_are_there_again() -> None:
    async def scenario(site: Site) -> None:
        topic = await json_topic(site, **{"lakestream.table.cluster-after": "never"})
        pipeline = site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic)
        whole, log = await site.table(topic), await site.files(topic, "log")
        await lost_from_main(site, topic, (await site.files(topic))[0])
        assert len(await site.table(topic)) < len(whole)
        id = await asked(site, topic)
        await rebuilt(site, pipeline)
        state, answer = await answer_of(site, id)
        assert state is RepairState.DONE and json.loads(answer)["rows"] == len(whole)
        assert await site.table(topic) == whole and await site.files(topic, "log") == log
        assert await refs(site, topic) == {"log", "main"}
        await no_file_is_left(site, topic)

    run(scenario)


def test_a_rebuild_lays_all_rows_out_anew_in_bounded_steps() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 4)
        await clustered(site, pipeline)
        rows = await site.table(topic)
        await changed(site, topic, {"lakestream.table.partition-by": "user", "lakestream.table.sort-by": "amount"})
        await clustered(site, pipeline)
        assert len(await site.files(topic)) == 2, "rows that are clustered stay so"
        small = site.pipeline(merge_limits=MergeLimits(time_share=1.0, round_bytes_max=1))
        id = await asked(site, topic)
        steps = 0
        while await small.rebuild(await site.lease()):
            steps += 1
        assert steps == 1 + 4 + 1 + 1, "begun, a file in each go, swapped, answered"
        assert (await answer_of(site, id))[0] is RepairState.DONE
        for file in await contents(site, topic):
            assert len({row["user"] for row in file}) == 1
            assert [row["amount"] for row in file] == sorted(row["amount"] for row in file)
        assert plain(await site.table(topic)) == plain(rows)

    run(scenario)


def test_rows_that_come_and_go_during_a_rebuild_are_on_main_afterwards_and_not() -> None:
    async def scenario(site: Site) -> None:
        limits = MergeLimits(time_share=1.0, files_min=2)
        topic, pipeline = await json_topic(site, partitions=1), site.pipeline(merge_limits=limits)
        await filled(site, pipeline, topic, 3)
        await asked(site, topic)
        await pipeline.rebuild(await site.lease())
        await filled(site, pipeline, topic, 2, base=3)
        await asked(site, topic, MERGE_REQUEST)
        pipeline._merging._budget._free_at = 0.0
        assert (await pipeline.merge(await site.lease())).files == 0, "files are not merged meanwhile"
        await site.store.delete_records(topic.partitions[0], 6)
        await pipeline.upkeep()
        await rebuilt(site, pipeline)
        assert [row["__offset"] for row in await site.table(topic) if row["__offset"] >= 6] == list(range(6, 30))
        await pipeline.upkeep()
        await asked(site, topic, MERGE_REQUEST)
        assert (await pipeline.merge(await site.lease())).files > 0
        assert len(await site.table(topic)) == len({row["__offset"] for row in await site.table(topic)})

    run(scenario)


def test_rows_that_sql_should_not_see_stay_hidden_and_repaired_ones_stay() -> None:
    async def scenario(site: Site) -> None:
        topic = await json_topic(site, partitions=1)
        pipeline = site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 1)
        broken = [{"timestamp": 1, "key": b"k", "value": b"{broken", "headers": []}]
        await site.produce(topic.partitions[0], broken)
        await site.round(pipeline)
        await asked(site, topic, json.dumps({"action": "retry", "fixes": [[0, 6, "eyJ1c2VyIjogOSwgImFtb3VudCI6IDd9"]]}))
        await site.round(pipeline)
        await clustered(site, pipeline)
        rows = plain(await site.table(topic))
        assert [row["__offset"] for row in rows] == list(range(7)) and rows[6]["user"] == 9
        await asked(site, topic)
        await rebuilt(site, pipeline)
        assert plain(await site.table(topic)) == rows

    run(scenario)


def test_another_engine_cannot_move_the_side_branch() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 1)
        await asked(site, topic)
        await pipeline.rebuild(await site.lease())
        metadata = await site.metadata(topic)
        for name in ("lakestream-rebuild", "lakestream-rebuild-base"):
            for change in (
                {"action": "set-snapshot-ref", "snapshot-id": metadata["current-snapshot-id"], "type": "branch"},
                {"action": "remove-snapshot-ref"},
            ):
                with pytest.raises(Guarded, match=name):
                    check_change(metadata, [{**change, "ref-name": name}])

    run(scenario)


def test_a_gateway_tells_how_far_a_rebuild_is() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 2)
        rebuilds = Rebuilds(site.store, site.commits(), Pipelines(site.store), site.ids)
        id = await rebuilds.ask("orders")
        assert await rebuilds.ask("orders") == id, "it waits already"
        assert not (await rebuilds.outcome(id)).begun
        await clustered(site, pipeline)
        told = []
        while await pipeline.rebuild(await site.lease()):
            told.append(await rebuilds.outcome(id))
        begun, laid_out, *_, done = told
        assert begun.begun and begun.bytes == begun.bytes_left > 0
        assert laid_out.bytes > laid_out.bytes_left == 0
        assert (done.state, done.rows, done.files) == (RepairState.DONE, 24, 2)
        with pytest.raises(NoRepair):
            await rebuilds.outcome("unknown")

    run(scenario)


def test_a_rebuild_that_fails_says_why_and_leaves_main_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site, **LAYOUT), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic)
        await clustered(site, pipeline)
        files = await site.files(topic)
        monkeypatch.setattr("lakestream.table.arrangement.arranging.PARTITIONS_MAX", 1)
        id = await asked(site, topic)
        await rebuilt(site, pipeline)
        state, reason = await answer_of(site, id)
        assert state is RepairState.FAILED and "partitions" in reason
        assert await site.files(topic) == files and await refs(site, topic) == {"log", "main"}

    run(scenario)


def test_a_rebuild_killed_at_any_step_goes_on_and_leaves_nothing() -> None:
    fate = Fate()

    async def prepared(site: Site) -> tuple[Topic, str]:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 2)
        await clustered(site, pipeline)
        await lost_from_main(site, topic, (await site.files(topic))[0])
        return topic, await asked(site, topic)

    def mortal(site: Site, fate: Fate) -> Any:
        store: Any = MortalVerbs(site.store, fate)
        objects: Any = MortalObjects(site.objects, fate)
        return site.pipeline(store=store, objects=objects, rewriter=InThisProcess(objects), merge_limits=NO_BOUND)

    async def check(site: Site, topic: Topic, id: str) -> None:
        assert (await answer_of(site, id))[0] is RepairState.DONE
        for branch in ("main", "log"):
            found = [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)]
            assert found == [(number, offset) for number in range(2) for offset in range(12)]
        assert await refs(site, topic) == {"log", "main"} and len(await site.files(topic)) == 2
        await no_file_is_left(site, topic)

    async def whole(site: Site) -> None:
        topic, id = await prepared(site)
        await rebuilt(site, mortal(site, fate))
        await check(site, topic, id)

    run(whole)
    assert {"begin_jobs", "commit_job", "move_tables", "put parquet", "put avro", "put json"} <= set(fate.calls)
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic, id = await prepared(site)
                with pytest.raises(BaseException) as died:
                    await rebuilt(site, mortal(site, Fate(at=at, after=after)))
                assert "Killed" in repr(died.value), f"at {fate.calls[at]}"
                site.clock.ahead_ms += TTL_MS + 1
                successor = site.pipeline(merge_limits=NO_BOUND)
                await successor.round(await site.lease("successor"))
                await rebuilt(site, successor, "successor")
                await successor.sweep()
                await check(site, topic, id)

            run(killed)


def test_a_table_that_may_have_rows_which_the_log_has_not_is_not_rebuilt() -> None:
    own_rule = {"lakestream.table.retention.ms": "-1", "retention.ms": "3600000"}

    async def scenario(site: Site) -> None:
        topic = await json_topic(site, **own_rule)
        pipeline = site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic)
        rows = await site.table(topic)
        id = await asked(site, topic)
        await rebuilt(site, pipeline)
        state, answer = await answer_of(site, id)
        assert state is RepairState.FAILED and "lakestream.table.retention.ms=-2" in answer
        assert await site.table(topic) == rows

    run(scenario)

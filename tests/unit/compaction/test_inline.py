"""Records that lie in the metadata store come into the table too: the pipeline moves them into an object first."""

from lakestream.model.place import Span, is_inline
from lakestream.storage.wal.segment import WAL_PREFIX
from lakestream.table.compaction.plan import PlanLimits
from tests.unit.compaction.site import Site, rows, run


async def wal_objects(site: Site) -> int:
    return len([info async for info in site.objects.list(WAL_PREFIX)])


def test_a_round_takes_inline_records_of_many_flushes_by_way_of_one_object() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        for number in range(6):
            await site.produce(topic.partitions[number % 2], rows(3), inline=True)
        before = [await site.read(partition) for partition in topic.partitions]
        assert (await site.round()).committed == 1
        assert [await site.places(partition) for partition in topic.partitions] == ["F", "F"]
        assert [await site.read(partition) for partition in topic.partitions] == before
        assert await wal_objects(site) == 1
        assert (await site.store.inline.at_rest()).segments == 0

    run(scenario)


def test_inline_records_and_objects_keep_their_order_on_the_way_into_the_table() -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        for inline in (False, True, True, False, True):
            await site.produce(partition, rows(2), inline=inline)
        before = await site.read(partition)
        await site.round()
        assert await site.places(partition) == "F"
        assert await site.read(partition) == before

    run(scenario)


def test_a_request_is_answered_while_new_inline_records_keep_coming() -> None:
    """What was there when the round read the debts is in the table afterwards. Later records may stay inline."""

    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        await site.produce(partition, rows(3), inline=True)
        pipeline = site.pipeline(limits=PlanLimits(freshness_ms=600_000))
        move_until = pipeline._round_plan._mover.move_until

        async def move_while_records_come(committed_ms: int) -> None:
            await move_until(committed_ms)
            await site.produce(partition, rows(2), inline=True)

        object.__setattr__(
            pipeline._round_plan, "_mover", type("Busy", (), {"move_until": staticmethod(move_while_records_come)})
        )
        await site.store.jobs.ask_compaction([topic.id])
        assert (await site.round(pipeline)).committed == 1
        assert await site.store.jobs.asked_compactions() == frozenset()
        assert await site.places(partition) == "Fw"
        last = (await site.view(partition)).spans[-1]
        assert isinstance(last, Span)
        assert is_inline(last.segment)

    run(scenario)


def test_a_topic_that_is_not_due_leaves_its_records_inline() -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await site.produce(partition, rows(3), inline=True)
        assert (await site.round(site.pipeline(limits=PlanLimits(freshness_ms=600_000)))).was_idle
        assert (await site.store.inline.at_rest()).segments == 1

    run(scenario)

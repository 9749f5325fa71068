"""Files that no snapshot reaches are found in every table, however many there are."""

from lakestream.catalog.files.locations import TableObjects
from lakestream.model.topic import Topic
from lakestream.table.upkeep.orphan_data import DAY_SECONDS, TABLES_AT_ONCE, OrphanData
from tests.unit.compaction.site import Passing, Site, rows, run

DAY_MS = int(1000 * DAY_SECONDS)


class Days(Passing):
    """Both of its clocks go on when the test says so; the wall's is ahead of jobs that were begun just now."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead_ms = DAY_MS + 1


def orphan_data(site: Site, clock: Passing) -> OrphanData:
    return OrphanData(site.store, TableObjects(site.objects), site.commits(), clock)


async def with_tables(site: Site, count: int) -> list[Topic]:
    """By the ids of their tables."""
    topics = [await site.topic(f"topic-{number}") for number in range(count)]
    await site.round()
    tables = {topic.name: (await site.pointer(topic)).id for topic in topics}
    return sorted(topics, key=lambda topic: tables[topic.name])


async def leave_a_file(site: Site, topic: Topic) -> str:
    folder = TableObjects(site.objects).job_folder((await site.pointer(topic)).id, site.ids.ulid())
    key = TableObjects(site.objects).key_of(f"{folder}/00000-0.parquet")
    await site.objects.put(key, [b"left"])
    return key


def test_more_tables_than_a_day_has_turns_for_all_have_theirs() -> None:
    async def scenario(site: Site) -> None:
        topics = await with_tables(site, 3 * TABLES_AT_ONCE)
        left = {await leave_a_file(site, topic) for topic in topics}
        clock = Days()
        sweeping = orphan_data(site, clock)
        for sweeps in range(1, 4):
            await sweeping.sweep()
            assert len(left & await site.keys()) == len(left) - sweeps * TABLES_AT_ONCE
            clock.passed += DAY_SECONDS  # those that were looked at have changed, and may be looked at again
            for topic in topics[: sweeps * TABLES_AT_ONCE]:
                await site.stranger_changes_main(topic)

    run(scenario)


def test_tables_that_have_not_moved_use_up_no_turn() -> None:
    async def scenario(site: Site) -> None:
        topics = await with_tables(site, 2 * TABLES_AT_ONCE)
        clock = Days()
        sweeping = orphan_data(site, clock)
        for _ in range(2):
            await sweeping.sweep()
            clock.passed += 1
        last = topics[-1]
        await site.produce(last.partitions[0], rows(1))
        await site.round()
        left = await leave_a_file(site, last)
        clock.passed += DAY_SECONDS
        await sweeping.sweep()
        assert left not in await site.keys()

    run(scenario)

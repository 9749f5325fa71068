"""A table's condition: one word, and for what is not good a reason and a command that helps."""

from typing import Any

import pytest

from lakestream.administration.condition.figures import FiguresOfTables, TableFigures
from lakestream.administration.condition.rating import Condition, RatedTable, Rating, rating_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import Buffer
from tests.unit.compaction.site import Site, rows, run

MIB = 1024 * 1024
HEALTHY = {
    "format_version": 2,
    "files": 40,
    "bytes": 1_280 * MIB,
    "rows": 1_000_000,
    "target_bytes": 128 * MIB,
    "sampled_files": 40,
    "small_files": 30,
    "delete_files": 0,
    "deleted_rows": 0,
    "manifests": 20,
    "planning_bytes": MIB,
    "snapshots": 290,
}


def rated(*, log_files: int = 40, extra_bytes: int = 0, bytes_by_others: int = 0, **changed: Any) -> Rating:
    figures = TableFigures(**{**HEALTHY, **changed})
    return rating_of(
        RatedTable(
            topic="orders",
            name="streams.orders",
            figures=figures,
            log_files=log_files,
            extra_bytes=extra_bytes,
            bytes_by_others=bytes_by_others,
        )
    )


def test_a_table_that_merging_keeps_up_with_is_good() -> None:
    assert rated() == Rating(condition=Condition.GOOD, findings=())
    assert rated(files=74).condition is Condition.GOOD, "ten that its bytes fill, and sixty-four between two merges"
    assert rated(files=0, bytes=0, rows=0, sampled_files=0, small_files=0).condition is Condition.GOOD


@pytest.mark.parametrize(
    ("changed", "condition", "part", "command"),
    [
        ({"files": 300, "log_files": 300}, Condition.FAIR, "files", "lakestream maintain orders"),
        ({"files": 8_640, "log_files": 8_640}, Condition.POOR, "files", "lakestream maintain orders"),
        ({"files": 300}, Condition.FAIR, "files", "rewrite_data_files(table => 'streams.orders')"),
        ({"files": 300, "log_files": 300, "format_version": 3}, Condition.FAIR, "files", "rewrite_data_files"),
        ({"delete_files": 150}, Condition.FAIR, "deletes", "rewrite_data_files"),
        ({"deleted_rows": 400_000, "delete_files": 1}, Condition.POOR, "deletes", "delete-file-threshold"),
        ({"manifests": 2_000}, Condition.POOR, "manifests", "rewrite_manifests"),
        ({"planning_bytes": 20 * MIB}, Condition.FAIR, "manifests", "rewrite_manifests"),
        ({"snapshots": 501}, Condition.FAIR, "snapshots", "streams.orders.refs"),
        ({"extra_bytes": 1_000 * MIB, "bytes_by_others": 900 * MIB}, Condition.FAIR, "bytes", "expire_snapshots"),
        ({"extra_bytes": 3_000 * MIB}, Condition.POOR, "bytes", "grace"),
    ],
)
def test_what_is_not_good_has_a_reason_and_a_command(
    changed: dict[str, Any], condition: Condition, part: str, command: str
) -> None:
    rating = rated(**changed)
    assert rating.condition is condition
    [finding] = rating.findings
    assert (finding.part, finding.condition) == (part, condition)
    assert command in finding.advice


def test_a_table_is_as_good_as_its_worst_part_which_comes_first() -> None:
    rating = rated(snapshots=501, manifests=2_000)
    assert [finding.part for finding in rating.findings] == ["manifests", "snapshots"]
    assert rating.condition is Condition.POOR


def test_a_young_table_with_a_second_copy_of_little_is_good() -> None:
    assert rated(bytes=MIB, extra_bytes=5 * MIB).condition is Condition.GOOD


class Counting(MemoryObjects):
    gets = 0

    async def get(self, key: str) -> Buffer:
        self.gets += 1
        return await super().get(key)


def test_a_look_reads_a_few_manifests_at_most_and_none_twice() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        for base in range(10):
            await site.produce(topic.partitions[0], rows(1, base=base))
            await site.round()
        site.objects.__class__ = Counting
        objects: Any = site.objects
        metadata = await site.metadata(topic)
        figures = FiguresOfTables(TableObjects(objects), MergeLimits())
        sampled, reads = [], []
        for _ in range(4):
            before = objects.gets
            found = await figures.of(metadata)
            sampled.append(found.sampled_files)
            reads.append(objects.gets - before)
        assert sampled == [4, 8, 10, 10]
        assert reads == [5, 4, 2, 0], "the manifest list once, and each manifest once"
        assert (found.files, found.rows, found.manifests, found.small_share) == (10, 10, 10, 1.0)
        assert (found.delete_files, found.deleted_rows) == (0, 0)
        assert found.planning_bytes > 0 and found.files_needed == 1

    run(scenario)

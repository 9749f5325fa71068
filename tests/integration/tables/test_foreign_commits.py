"""Strangers who act while a job is under way: after it was planned, after its files and its metadata were written."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import consumed
from tests.integration.tables.stranger import Stranger, check_verify, main_of

MOMENTS = pytest.mark.parametrize("moment", ["files_written", "metadata_written"])
FIRST, THEN = 30, 20


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        yield running


@pytest.fixture
def stranger(spark: SparkSession, lake: RunningLake, request: pytest.FixtureRequest) -> Stranger:
    """On a topic with rows in its table and more in the log: the next round has something to do."""
    topic = request.node.name.partition("[")[0].removeprefix("test_") + "_" + request.node.callspec.params["moment"]
    lake.produce(topic, [b"first-%d" % at for at in range(FIRST)])
    lake.compact()
    lake.produce(topic, [b"then-%d" % at for at in range(THEN)])
    return Stranger(spark, lake, topic)


def written_for_commits(lake: RunningLake, stranger: Stranger) -> set[Path]:
    """What the catalog wrote for the table: metadata files, manifests, manifest lists."""
    (topic,) = [one for one in lake.run(lake.store.topics()).topics if one.name == stranger.topic]
    pointer = lake.run(lake.store.tables.table_of_topic(topic.id))
    assert pointer is not None
    return set((lake.objects / "tables" / f"{pointer.id}-log" / "metadata").iterdir())


def check(lake: RunningLake, stranger: Stranger, *, gone: int) -> None:
    """Every record is in the topic once, and in `main` too but for the first `gone`."""
    offsets = list(range(FIRST + THEN))
    found = consumed(lake.kafka, stranger.topic, partitions=1, count=len(offsets))
    assert [record.offset for record in found] == offsets
    assert sorted(main_of(lake, stranger.topic)) == [(0, offset) for offset in offsets[gone:]]
    check_verify(lake, stranger.topic)


@MOMENTS
def test_one_who_commits_in_between_is_given_way_and_branches_part(
    lake: RunningLake, stranger: Stranger, moment: str
) -> None:
    before = stranger.heads()
    assert before["main"] == before["log"]

    def delete() -> None:
        stranger.sql("DELETE FROM {t} WHERE __offset < 10")
        parted.update(stranger.heads())

    parted: dict[str, int] = {}
    setattr(lake.moments, moment, delete)
    assert lake.round().committed == 1
    assert parted["log"] == before["log"] != parted["main"], "it happened while the job was under way"
    after = stranger.heads()
    parents = {row.snapshot_id: row.parent_id for row in stranger.sql("SELECT * FROM {t}.snapshots")}
    # Each branch continues where it was: what the job had decided before no longer holds.
    assert {name: parents[head] for name, head in after.items()} == parted
    lake.sweep()
    check(lake, stranger, gone=10)


@MOMENTS
def test_one_who_removes_orphans_takes_nothing_of_a_job_under_way(
    lake: RunningLake, stranger: Stranger, moment: str
) -> None:
    taken: list[str] = []
    setattr(lake.moments, moment, lambda: taken.extend(stranger.remove_orphans()))
    there = written_for_commits(lake, stranger)
    assert lake.round().committed == 1
    assert taken == ["stray.parquet"]
    assert len(written_for_commits(lake, stranger) - there) == 3  # manifest, manifest list, metadata file
    check(lake, stranger, gone=0)


@MOMENTS
def test_one_who_expires_everything_takes_nothing_of_a_job_under_way(
    lake: RunningLake, stranger: Stranger, moment: str
) -> None:
    def expire() -> None:
        stranger.sql("DELETE FROM {t}")
        stranger.call("expire_snapshots", older_than="timestamp '2100-01-01'", retain_last="1")
        stranger.expire_in_java()
        taken.extend(stranger.remove_orphans())

    taken: list[str] = []
    setattr(lake.moments, moment, expire)
    assert lake.round().committed == 1
    assert "stray.parquet" in taken
    check(lake, stranger, gone=FIRST)

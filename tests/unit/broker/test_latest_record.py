"""The latest record of a partition of which the first records were deleted: the same in the log and in the table."""

from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.broker.losses import Losses
from lakestream.broker.offsets import OffsetAtTime, Offsets
from lakestream.metadata.rules.tabling import FileSpanRow, file_span_rows
from lakestream.metadata.sqlite import job_commit
from lakestream.model.job import NewFileSpan
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.site import NOW_MS, Site, rows, run

FUTURE_MS = 9 * NOW_MS


async def produce(site: Site, partition: int, *times_ms: int, **how: Any) -> None:
    await site.produce(partition, [rows(1)[0] | {"timestamp": time_ms} for time_ms in times_ms], **how)


def offsets_of(site: Site) -> Offsets:
    return Offsets(site.store, site.reader(), InlineThreads(), Losses(site.clock), 1 << 28)


async def latest(site: Site, partition: int) -> OffsetAtTime:
    """As it is now, which a round of compaction does not change."""
    offsets = offsets_of(site)
    before = await offsets.at_max_timestamp(partition)
    await site.round()
    assert "w" not in await site.places(partition)
    assert await offsets.at_max_timestamp(partition) == before
    return before


def test_a_deleted_record_is_not_the_latest_wherever_the_others_lie() -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await produce(site, partition, FUTURE_MS, 5, 7)
        await site.store.delete_records(partition, 1)
        assert await latest(site, partition) == (2, 7)
        await produce(site, partition, 8)
        assert await latest(site, partition) == (3, 8)
        await site.store.delete_records(partition, 2)
        assert await latest(site, partition) == (3, 8)

    run(scenario)


def test_a_deleted_record_does_not_keep_the_others_from_retention() -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await produce(site, partition, FUTURE_MS, 5, 7)
        await site.store.delete_records(partition, 1)
        await site.round()
        assert await site.store.apply_retention(partition, expired_before_ms=7, bytes_max=None, spans_max=9) == 0
        assert await site.store.apply_retention(partition, expired_before_ms=8, bytes_max=None, spans_max=9) == 1

    run(scenario)


def test_records_that_sql_does_not_see_count_too() -> None:
    """A tombstone of a typed topic is in the second file alone."""

    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic(lakestream_value_format="json")).partitions
        sent = [rows(1)[0] | {"value": value, "timestamp": 5 + at} for at, value in enumerate((b"{}", b"{}", None))]
        await site.produce(partition, sent)
        await site.store.delete_records(partition, 1)
        assert await latest(site, partition) == (2, 7)
        (span,) = (await site.view(partition)).spans
        assert span.max_timestamp_ms == 7
        await site.store.delete_records(partition, 2)
        assert await latest(site, partition) == (2, 7)

    run(scenario)


@pytest.mark.parametrize("damage", [False, True])
def test_the_brokers_time_is_that_of_every_record(damage: bool) -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await produce(site, partition, FUTURE_MS, 5, 7, append_ms=NOW_MS, damage=damage)
        await site.store.delete_records(partition, 1)
        assert await latest(site, partition) == (1, NOW_MS)
        (span,) = (await site.view(partition)).spans
        assert span.max_timestamp_ms == NOW_MS

    run(scenario)


def test_records_without_a_time_leave_no_latest_one() -> None:
    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await produce(site, partition, 7, -1, -1)
        await site.store.delete_records(partition, 1)
        assert await latest(site, partition) == (-1, -1)
        await produce(site, partition, 8, -1)
        assert await latest(site, partition) == (3, 8)
        await site.store.delete_records(partition, 4)
        assert await latest(site, partition) == (-1, -1)

    run(scenario)


def test_a_file_span_that_kept_the_time_of_a_deleted_record_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As stores may hold them."""

    def of_the_whole_span(table: str, tail: Any, spans: Sequence[NewFileSpan], replaced: Any) -> list[FileSpanRow]:
        return file_span_rows(table, tail, [span._replace(max_timestamp_ms=FUTURE_MS) for span in spans], replaced)

    async def scenario(site: Site) -> None:
        (partition,) = (await site.topic()).partitions
        await produce(site, partition, FUTURE_MS, 5, 7)
        await site.store.delete_records(partition, 1)
        with monkeypatch.context() as patch:
            patch.setattr(job_commit, "file_span_rows", of_the_whole_span)
            assert await latest(site, partition) == (2, 7)
        (span,) = (await site.view(partition)).spans
        assert (span.base_offset, span.max_timestamp_ms) == (1, FUTURE_MS)
        assert await offsets_of(site).at_time(partition, 8) == (-1, -1)
        await produce(site, partition, 6, 8)
        assert await latest(site, partition) == (4, 8)

    run(scenario)

"""The driver's part of the Spark source: options are checked, ranges are cut into tasks, batches are bounded."""

import pytest

from lakestream.model.errors import InvalidRequest
from lakestream.model.place import FileSpan, Span
from lakestream.spark.options import EARLIEST, LATEST, ReadBound, source_options
from lakestream.spark.planning import cut_into_tasks
from lakestream.spark.reading import RangeToRead
from lakestream.spark.stream_reader import capped


def wal(base: int, last: int, length: int, segment: str = "s") -> Span:
    return Span(base, last, segment, 0, length, -1, -1)


def in_table(base: int, last: int, length: int) -> FileSpan:
    return FileSpan(base, last, "a.parquet", None, 0, last - base + 1, length, -1)


def test_options_are_read_in_any_case() -> None:
    found = source_options(
        {"TOPIC": "orders", "startingoffsets": '{"0": 5, "1": -1}', "endingTimestamp": "1970-01-01T00:00:02Z"}
        | {"http": "gateway:8080", "objects.endpoint": "http://s3", "partitions": "0, 1", "failOnDataLoss": "false"}
    )
    assert found.topic == "orders"
    assert found.starting == ReadBound(EARLIEST, {0: 5, 1: LATEST})
    assert found.ending == ReadBound(LATEST, timestamp_ms=2_000)
    assert found.gateway == "gateway:8080"
    assert found.objects_options["endpoint"] == "http://s3"
    assert found.partitions == {0, 1}
    assert not found.fails_on_loss


@pytest.mark.parametrize(
    "wrong",
    [
        {"startingOffsets": "5"},
        {"startingOffsets": '{"a": 5}'},
        {"startingOffsets": '{"0": -3}'},
        {"startingOffsets": "earliest", "startingTimestamp": "1"},
        {"endingTimestamp": "yesterday"},
        {"partitions": "0,x"},
        {"columns": "a,,b"},
        {"taskBytes": "0"},
        {"maxOffsetsPerTrigger": "many"},
        {"failOnDataLoss": "no"},
    ],
    ids=str,
)
def test_wrong_options_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest):
        source_options({"topic": "orders", "http": "gateway:8080", **wrong})


def test_small_spans_share_a_task_and_large_table_spans_are_cut() -> None:
    inline = wal(160, 199, 10, "inline-x")
    ranges = [
        RangeToRead(0, 0, 200, (in_table(0, 99, 300), wal(100, 159, 40), inline), {inline: b"data"}),
        RangeToRead(1, 7, 20, (wal(0, 29, 50),)),
    ]
    tasks = cut_into_tasks(ranges, 100)
    assert [[(one.number, one.start, one.end) for one in task] for task in tasks] == [
        [(0, 0, 34)],
        [(0, 34, 68)],
        [(0, 68, 100)],
        [(0, 100, 200), (1, 7, 20)],
    ]
    assert tasks[3][0].inline == {inline: b"data"}
    assert cut_into_tasks([], 100) == []


def test_a_bounded_batch_gives_what_short_partitions_leave_to_the_others() -> None:
    assert capped({0: 0, 1: 10, 2: 5}, {0: 100, 1: 12, 2: 5}, 30) == {0: 28, 1: 12, 2: 5}
    assert capped({0: 0, 1: 0}, {0: 3, 1: 4}, 30) == {0: 3, 1: 4}
    assert sum(capped({0: 0, 1: 0, 2: 0}, {0: 9, 1: 9, 2: 9}, 10).values()) == 10

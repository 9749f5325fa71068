"""What Spark sends to its workers, called here as they call it."""

import asyncio
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakestream.model.place import Span
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.spark.rewriter import SparkRewriter, reason_of
from lakestream.world.threads import ThreadPool


class Slices:
    """Stands for a session: each slice is done by itself, and what its worker was given and gave back is noted."""

    defaultParallelism = 2  # noqa: N815 - Spark's name

    def __init__(self) -> None:
        self.done: list[list[TaskResult]] = []

    @property
    def sparkContext(self) -> "Slices":  # noqa: N802
        return self

    def range(self, start: int, end: int, step: int, slices: int) -> "Slices":
        assert (start, end, step) == (0, slices, 1)
        self._slices = slices
        return self

    def mapInArrow(self, function: Any, schema: str) -> "Slices":  # noqa: N802
        for number in range(self._slices):
            batch = pa.record_batch({"id": pa.array([number], pa.int64())})
            self.done.append(
                [TaskResult.from_json(text) for out in function([batch]) for text in out.column(0).to_pylist()]
            )
        return self

    def collect(self) -> list[tuple[str]]:
        return [(result.to_json(),) for own in self.done for result in own]


def task(number: int, length: int, folder: Path) -> RewriteTask:
    return RewriteTask(
        job="01M0000000000000000000000A",
        number=number,
        objects_url=folder.as_uri(),
        objects_options={},
        folder=f"{folder.as_uri()}/tables/t",
        folder_key="tables/t",
        spans=(TaskSpan(0, 0, Span(0, 0, "01M0000000000000000000000B", 4, length, 0, -1)),),
    )


@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_every_task_is_done_once_and_large_ones_are_dealt_out(count: int, tmp_path: Path) -> None:
    session: Any = Slices()
    large = min(count, 8)
    tasks = [task(number, 1_000_000 if number < large else 100, tmp_path) for number in range(count)]
    waiting = ThreadPool(1, "spark")
    results = asyncio.run(SparkRewriter(session, waiting).rewrite(tasks))
    waiting.close()
    assert sorted(result.number for result in results) == list(range(count))
    assert all("no object" in str(result.error) for result in results), "each worker went to the store"
    assert max(sum(result.number < large for result in own) for own in session.done) <= 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "An error occurred while calling o1.collect.\n: org.apache.SparkException: Job aborted\n\tat x",
            "Job aborted",
        ),
        ("[Errno 111] Connection refused", "[Errno 111] Connection refused"),
        ("", "ConnectionError"),
    ],
)
def test_what_went_wrong_in_java_is_said_in_a_line(said: str, reason: str) -> None:
    found = reason_of(ConnectionError(said))
    assert reason in found
    assert "\n" not in found

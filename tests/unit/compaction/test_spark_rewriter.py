"""What Spark sends to its workers, called here as they call it."""

import asyncio
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakestream import __version__
from lakestream.model.place import Span
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.spark.rewriter import SparkRewriter, reason_of, worker_error
from lakestream.world.threads import ThreadPool


class Slices:
    """Stands for a session: each slice is done by itself, and what its worker was given and gave back is noted."""

    defaultParallelism = 2  # noqa: N815 - Spark's name

    def __init__(self) -> None:
        self.said: list[list[str]] = []

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
            self.said.append([text for out in function([batch]) for text in out.column(0).to_pylist()])
        return self

    def collect(self) -> list[tuple[str]]:
        return [(text,) for own in self.said for text in own]

    @property
    def done(self) -> list[list[TaskResult]]:
        return [[TaskResult.from_json(text) for text in own] for own in self.said]


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


@pytest.mark.parametrize(("count", "slices"), [(0, 0), (1, 1), (5, 5), (100, 16)])
def test_no_worker_gets_a_slice_without_a_task(count: int, slices: int, tmp_path: Path) -> None:
    session: Any = Slices()
    waiting = ThreadPool(1, "spark")
    asyncio.run(SparkRewriter(session, waiting).rewrite([task(number, 100, tmp_path) for number in range(count)]))
    waiting.close()
    assert len([own for own in session.done if own]) == slices
    assert all(session.done) == (count > 0), "without any task, each worker is asked whether it works"


def test_rounds_are_cut_for_the_cores_of_the_moment() -> None:
    session: Any = Slices()
    rewriter = SparkRewriter(session, ThreadPool(1, "spark"))
    assert rewriter.parallel() == 2
    session.defaultParallelism = 7
    assert rewriter.parallel() == 7


def test_workers_with_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = Slices()
    waiting = ThreadPool(1, "spark")
    rewriter = SparkRewriter(session, waiting)
    asyncio.run(rewriter.warm_up())
    session.said.clear()
    monkeypatch.setattr(Slices, "collect", lambda self: [("0.0.1",), (__version__,)])
    with pytest.raises(RewriteFailed, match=r"workers have Lakestream 0\.0\.1, and the pipeline has"):
        asyncio.run(rewriter.warm_up())
    waiting.close()


def test_a_worker_that_does_not_start_is_told_by_the_last_line_of_its_python() -> None:
    said = (
        "An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: Job aborted\n"
        "Error from python worker:\n  Traceback (most recent call last):\n"
        "  ModuleNotFoundError: No module named 'lakestream'\nPYTHONPATH was:\n  /x\n\tat org.apache.spark.x"
    )
    assert worker_error(ConnectionError(said)) == "ModuleNotFoundError: No module named 'lakestream'"
    last = "/usr/bin/python3: Error while finding module specification for 'lakestream.table.spark.worker_daemon'"
    assert worker_error(ConnectionError(f"Error from python worker:\n  {last}\nPYTHONPATH was:\n  /x")) == last
    assert worker_error(ConnectionError("Connection refused")) is None


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

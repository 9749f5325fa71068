"""Runs rewrite tasks on Spark: tasks go out in a closure, results come back as text, `mapInArrow` calls our code.

    session.range(slices) -> mapInArrow(rewrite the tasks of these slices) -> collect

Each worker opens the object store itself. A failed task says so in its result. If a whole worker or its machine dies,
Spark starts its task again in another.
"""

import asyncio
import pickle
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakestream import __version__
from lakestream.table.compaction.rewrite import rewrite_task
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import ThreadPool, Threads

SLICES_PER_CORE_MAX = 8
"""Small tasks share a slice, since Spark needs about ten milliseconds for each. Tasks are dealt out from the largest
down, so that no slice gets more than one of the long ones.
"""
_BROKEN = (Py4JError, PySparkException, ConnectionError, EOFError)
"""The errors that arise when Java, or Spark in it, fails."""
_PYTHON_ERROR = re.compile(r"(.*/python\S*: )?(\w*Error|No module named)\b")
_RESULT = "result"
_OfSlice = Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]
"""What Spark calls with the rows of one slice."""
_WORKER_THREADS = 8
"""For files: reads in flight, and the work itself."""


class SparkRewriter:
    def __init__(self, session: SparkSession, threads: Threads) -> None:
        """`threads`: one of them waits for Spark."""
        self._session = session
        self._threads = threads
        self._parallel = 1

    def parallel(self) -> int:
        """How many tasks can run at once now. The workers of a cluster come and go."""
        with suppress(*_BROKEN):  # the next round finds out that Java is gone
            self._parallel = int(self._session.sparkContext.defaultParallelism)
        return self._parallel

    async def warm_up(self) -> None:
        """Start the workers and let Spark plan such a job once: the first takes seconds. Raises RewriteFailed, also if
        workers have another version of this package."""
        try:
            versions = await self._threads.run(self._versions)
        except _BROKEN as error:
            raise RewriteFailed(f"Spark's workers do not start: {worker_error(error) or reason_of(error)}") from error
        if others := sorted(versions - {__version__}):
            raise RewriteFailed(
                f"Spark's workers have Lakestream {', '.join(others)}, and the pipeline has {__version__}: install the "
                "same version for both (spark.pyspark.python names the Python of workers)"
            )

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        largest_first = sorted(tasks, key=lambda task: -task.bytes)
        try:
            return await self._threads.run(self._run, tuple(largest_first))
        except _BROKEN as error:
            raise RewriteFailed(f"Spark did not finish the round: {reason_of(error)}") from error

    def cancel(self) -> None:
        """End the running tasks, which then raise RewriteFailed."""
        with suppress(*_BROKEN):  # Java is gone: nothing runs
            self._session.sparkContext.cancelAllJobs()

    async def close(self) -> None:
        """End the session, if there still is one."""
        with suppress(*_BROKEN):
            await self._threads.run(self._session.stop)

    def _run(self, tasks: tuple[RewriteTask, ...]) -> list[TaskResult]:
        parallel = self.parallel()
        slices = min(len(tasks) or parallel, parallel * SLICES_PER_CORE_MAX)
        packed = tuple(map(pickle.dumps, tasks))
        return [TaskResult.from_json(text) for text in self._collected(slices, _rewriting(packed, slices))]

    def _versions(self) -> set[str]:
        return set(self._collected(self.parallel(), _version))

    def _collected(self, slices: int, function: _OfSlice) -> list[str]:
        frame = self._session.range(0, slices, 1, slices).mapInArrow(function, f"{_RESULT} string")
        return [row[0] for row in frame.collect()]


def _version(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """The version of this package in the worker."""
    for batch in batches:
        yield pa.record_batch({_RESULT: pa.array([__version__] * batch.num_rows, pa.string())})


def _rewriting(tasks: tuple[bytes, ...], slices: int) -> _OfSlice:
    """The function that Spark sends to its workers, including the tasks. Each worker unpacks only its own."""

    def rewrite(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        own = [pickle.loads(task) for number in numbers for task in tasks[number::slices]]
        results = asyncio.run(rewrite_all(own, attempt=_attempt()))
        yield pa.record_batch({_RESULT: pa.array([result.to_json() for result in results], pa.string())})

    return rewrite


async def rewrite_all(tasks: Sequence[RewriteTask], *, attempt: int = 0) -> list[TaskResult]:
    """Run the tasks one after the other, in this process."""
    if not tasks:
        return []
    clock, threads = SystemClock(), ThreadPool(_WORKER_THREADS, "rewrite")
    objects = await open_objects(
        tasks[0].objects_url,
        clock=clock,
        ids=Ids(clock, SystemChance()),
        threads=threads,
        options=tasks[0].objects_options,
        probe=False,
    )
    try:
        return [await rewrite_task(task, objects=objects, threads=threads, attempt=attempt) for task in tasks]
    finally:
        await objects.close()
        threads.close()


def _attempt() -> int:
    context = TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())


def worker_error(error: BaseException) -> str | None:
    """The line that Python ended with in a worker that did not start, such as `ModuleNotFoundError: ...`."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next((line for line in reversed(lines) if _PYTHON_ERROR.match(line)), None)


def reason_of(error: BaseException) -> str:
    """The reason in one line. Of a Java error, the first line only names the call, and the second what happened."""
    first, *others = [*str(error).strip().splitlines(), ""]
    return others[0].removeprefix(": ") if others and others[0].startswith(": ") else first or type(error).__name__

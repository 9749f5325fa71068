"""Workers: the tasks that Spark would run, each in a process of its own that may die, be slow, or outlive its driver.

task -> worker -> [dies | takes too long: another one begins, with the next attempt's number] -> result, as text
"""

import asyncio
from collections.abc import Callable, Sequence

from lakestream.table.compaction.rewrite import rewrite_task
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads
from tests.simulation.life import Life

ATTEMPTS_MAX = 4
PATIENCE_SECONDS = 6.0
"""Then a worker counts as lost. It may go on all the same, and write."""


class Workers:
    """The Rewriter of one driver."""

    def __init__(
        self, driver: Life, new_worker: Callable[[str], Life], reach: Callable[[Life], ObjectStore], network: Tasks
    ) -> None:
        self._driver = driver
        self._new_worker = new_worker
        self._reach = reach
        self._network = network

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await asyncio.gather(*map(self._task, tasks))
        await self._driver.awake()
        return results

    async def _task(self, task: RewriteTask) -> TaskResult:
        for attempt in range(ATTEMPTS_MAX):
            await self._driver.awake()
            life = self._new_worker(f"{self._driver.name}-w{task.number}-{attempt}")
            # Not a task of the driver's: a worker does not die with it.
            work = rewrite_task(task, objects=self._reach(life), threads=InlineThreads(), attempt=attempt)
            running = self._network.spawn(work, name=life.name)
            await asyncio.wait([running], timeout=PATIENCE_SECONDS)
            if running.done() and not running.cancelled():
                return TaskResult.from_json(running.result().to_json())
        raise RewriteFailed(f"task {task.number} of job {task.job} was begun {ATTEMPTS_MAX} times and never finished")

"""A commit to an old table does what one to a young table does. Counted, not timed.

Calls are counted, of functions in Python and in C, from a job's files being there to its commit being asked for. So no
clock has a part in it, nor whatever else the machine does.
"""

import statistics
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.catalog.topic.expiry import SNAPSHOTS_KEPT
from lakestream.model.job import JobCommit
from lakestream.table.compaction.task import RewriteTask, TaskResult
from tests.unit.compaction.site import InThisProcess, Site, rows, run

YOUNG = slice(10, 50)
OLD = slice(SNAPSHOTS_KEPT + 70, SNAPSHOTS_KEPT + 120)
"""Snapshots expire by then, and manifests have been rolled together twice."""
MEDIAN_SHARE_MAX, SHARE_MAX = 1.05, 1.15
"""Of the young table's median. Manifest lists have more rows, and each is asked a few questions: 1.01 and 1.08 were
found. Walking over all snapshots once, with a call for each, gives 1.10 and 1.17."""


class CountedCommits(InThisProcess):
    """A rewriter: a commit begins when its files are there."""

    calls: Sequence[int] = ()
    """Of each commit, in order."""
    _now = 0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await super().rewrite(tasks)
        self._now = 0
        sys.setprofile(self._event)
        return results

    def end(self) -> None:
        sys.setprofile(None)
        self.calls = (*self.calls, self._now)

    def _event(self, frame: Any, event: str, argument: Any) -> None:
        self._now += event in ("call", "c_call")


def test_a_commit_to_an_old_table_does_what_one_to_a_young_table_does(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    async def scenario(site: Site) -> None:
        commits, commit_job = CountedCommits(site.objects), site.store.jobs.commit_job

        async def ending(commit: JobCommit) -> str:
            commits.end()
            return await commit_job(commit)

        monkeypatch.setattr(site.store.jobs, "commit_job", ending)
        topic, pipeline = await site.topic(), site.pipeline(rewriter=commits)
        for _ in range(OLD.stop):
            await site.produce(topic.partitions[0], rows(1))
            await site.round(pipeline)
        calls.extend(commits.calls)

    run(scenario)
    assert len(calls) == OLD.stop
    young = statistics.median(calls[YOUNG])
    assert statistics.median(calls[OLD]) < MEDIAN_SHARE_MAX * young
    assert max(calls[OLD]) < SHARE_MAX * young

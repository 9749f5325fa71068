"""The work of a commit does not grow with the age of its table. Counted, not timed.

    calls of functions, in Python and in C, and bytes put, from a job's files being there to the end of its round

So no clock has a part in it, nor whatever else the machine does, and work that only moves behind the commit counts too.
"""

import statistics
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from lakestream.catalog.topic.expiry import SNAPSHOTS_KEPT
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.world.objects.store import Buffer
from tests.unit.compaction.site import InThisProcess, Site, rows, run

YOUNG = slice(16, 48)
FULL = slice(SNAPSHOTS_KEPT, SNAPSHOTS_KEPT + 50)
"""The table has as many snapshots as are kept, and the oldest expire every 25 commits."""
OLD = slice(SNAPSHOTS_KEPT + 55, SNAPSHOTS_KEPT + 119)
"""Expiry goes on, and one of these commits rolls together what was rolled before."""
CALLS_SHARE_MAX, BYTES_SHARE_MAX = 1.05, 1.05
"""Of medians. Found: 1.01 of the young table's calls, 0.99 of the full table's bytes. A call for each snapshot that is
kept would give 1.10."""
MEAN_CALLS_SHARE_MAX = 1.5
"""With what only some commits do: roll 16 manifests together (every 16th), or 256 files (every 256th; here one of 64),
and expire snapshots (every 25th), which young tables never do. Found: 1.23."""


class Work(NamedTuple):
    calls: int
    bytes: int


class CountedCommits(InThisProcess):
    """A rewriter: a commit begins when its files are there."""

    calls = bytes = 0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await super().rewrite(tasks)
        self.calls = self.bytes = 0
        sys.setprofile(self._event)
        return results

    def end(self) -> Work:
        sys.setprofile(None)
        return Work(self.calls, self.bytes)

    def _event(self, frame: Any, event: str, argument: Any) -> None:
        self.calls += event in ("call", "c_call")


def test_the_work_of_a_commit_does_not_grow_with_the_age_of_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    work: list[Work] = []

    async def scenario(site: Site) -> None:
        commits, put = CountedCommits(site.objects), site.objects.put

        async def counted_put(key: str, parts: Sequence[Buffer]) -> None:
            commits.bytes += sum(map(len, parts))
            await put(key, parts)

        monkeypatch.setattr(site.objects, "put", counted_put)
        topic, pipeline = await site.topic(), site.pipeline(rewriter=commits)
        for _ in range(OLD.stop):
            await site.produce(topic.partitions[0], rows(1))
            await site.round(pipeline)
            work.append(commits.end())

    run(scenario)
    young, full, old = (work[age] for age in (YOUNG, FULL, OLD))
    assert statistics.median(calls(old)) < CALLS_SHARE_MAX * statistics.median(calls(young))
    assert statistics.mean(calls(old)) < MEAN_CALLS_SHARE_MAX * statistics.mean(calls(young))
    # Every metadata file lists all snapshots that are kept, so its bytes grow until the table is full, and no further.
    assert statistics.median(sizes(old)) < BYTES_SHARE_MAX * statistics.median(sizes(full))


def calls(work: Sequence[Work]) -> list[int]:
    return [each.calls for each in work]


def sizes(work: Sequence[Work]) -> list[int]:
    return [each.bytes for each in work]

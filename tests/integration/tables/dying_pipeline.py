"""A pipeline process that kills itself right before a chosen write: a real SIGKILL, over real stores.

Its tasks run without Spark, by the code that Spark's workers run, so that a process begins and dies within a moment.
"""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.metadata.open import open_store
from lakestream.storage.records.warm import warm
from lakestream.world.chance import SystemChance
from lakestream.world.ids import Ids
from lakestream.world.objects.file import FileObjects
from lakestream.world.objects.store import Buffer
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import MortalObjects, MortalVerbs
from tests.unit.compaction.site import Clock, InThisProcess, Site

READING = frozenset(
    {
        *("now_ms", "topics", "topics_version", "topics_without_table", "table_of_topic", "debts", "untabled_spans"),
        *("asked_compactions", "trimmed_topics", "living_files", "old_dropped_jobs", "dropped_tables", "asked"),
        *("tails", "table_ids", "table_with_id"),
    }
)
"""A death at one of these leaves what a death before the next write leaves."""
FILES_MERGED = 3


class Deadline:
    """Counts what is written; at write number `at` the process ends, and nothing in it can object."""

    def __init__(self, at: int | None) -> None:
        self.writes: list[str] = []
        self._at = at

    async def live(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        if name in READING:
            return await act()
        if len(self.writes) == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.writes.append(name)
        return await act()


class MortalFiles(MortalObjects):
    """Deletes each object by itself: a process may die between any two."""

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        for key in keys:
            await super().delete([key])
        await self._inner.delete([], unused_folders=unused_folders)

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        await self._fate.live(f"put {key.rpartition('/')[2]}", lambda: self._inner.put(key, parts))


async def open_site(folder: Path) -> Site:
    clock = Clock()
    ids = Ids(clock, SystemChance())
    store = await open_store(
        f"sqlite://{folder}/metadata.db", clock=clock, ids=ids, one_thread=lambda name: InlineThreads()
    )
    return Site(store, clock, ids, FileObjects(folder / "objects", InlineThreads()))


def work(folder: Path, at: int | None) -> None:
    """A round, a merge, upkeep and a sweep; what was written is told in a file, by those who live to tell."""
    asyncio.run(_work(folder, Deadline(at)))


async def _work(folder: Path, deadline: Deadline) -> None:
    site = await open_site(folder)
    fate: Any = deadline
    objects: Any = MortalFiles(site.objects, fate)
    store: Any = MortalVerbs(site.store, fate)
    lease = await site.lease()
    limits = MergeLimits(files_min=FILES_MERGED)
    pipeline = site.pipeline(
        store=store, objects=objects, rewriter=InThisProcess(objects), merge_limits=limits, grace_ms=0
    )
    await pipeline.round(lease)
    await pipeline.merge(lease)
    await pipeline.upkeep()
    await pipeline.sweep()
    await site.store.close()
    (folder / "writes.json").write_text(json.dumps(deadline.writes))


warm()

"""Moments of a compaction job, or of a stranger's commit, at which a test lets something else happen. No sleeps.

    planned -> files written -> [files_written] -> manifests and metadata written -> [metadata_written] -> transaction
    a stranger's commit arrives at the catalog -> [stranger_commits] -> it is carried out

Each happens once, at the next such moment, in a thread: what happens may ask the very service that waits for it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from lakestream.model.job import JobCommit
from lakestream.table.compaction.rounds import Rewriter
from lakestream.table.compaction.task import RewriteTask, TaskResult

Act = Callable[[], object]


class Moments:
    def __init__(self) -> None:
        self.files_written: Act | None = None
        self.metadata_written: Act | None = None
        self.stranger_commits: Act | None = None

    async def reached(self, name: str) -> None:
        act: Act | None = getattr(self, name)
        if act is not None:
            setattr(self, name, None)
            await asyncio.to_thread(act)


class RewriterAt:
    """A rewriter, and then a moment."""

    def __init__(self, inner: Rewriter, moments: Moments) -> None:
        self._inner = inner
        self._moments = moments

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await self._inner.rewrite(tasks)
        await self._moments.reached("files_written")
        return results


class StoreAt:
    """A metadata store whose jobs are committed after a moment."""

    def __init__(self, inner: Any, moments: Moments) -> None:
        self._inner = inner
        self.jobs = _JobsAt(inner.jobs, moments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _JobsAt:
    def __init__(self, inner: Any, moments: Moments) -> None:
        self._inner = inner
        self._moments = moments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def commit_job(self, commit: JobCommit) -> str:
        await self._moments.reached("metadata_written")
        location: str = await self._inner.commit_job(commit)
        return location


class AppAt:
    """A gateway that carries out strangers' commits after a moment."""

    def __init__(self, inner: ASGIApp, moments: Moments) -> None:
        self._inner = inner
        self._moments = moments

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and "/tables/" in scope["path"]:
            await self._moments.reached("stranger_commits")
        await self._inner(scope, receive, send)

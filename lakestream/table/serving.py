"""Runs the pipeline's rounds while the process lives: works while it holds the lease, stands by while it does not.

A failed round is logged and tried again after a growing pause. If the engine fails again and again, the process ends,
and its supervisor starts it with a fresh engine.
"""

from collections.abc import Callable

import structlog

from lakestream.model.errors import LakestreamError
from lakestream.table.compaction.rounds import RewriteFailed
from lakestream.table.lease import LeaseKeeper
from lakestream.table.pipeline import Pipeline
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.5
"""The pause between two looks for work: short compared to the freshness, and a look is one small query."""
REQUEST_LOOKS = 5
"""Looks for new requests during that pause: people and engines wait for the answer, and this query is the smallest."""
PAUSE_SECONDS_MAX = 30.0
ENGINE_FAILURES_MAX = 3
SWEEP_SECONDS = 600.0
SWEEP_SECONDS_MAX = 1_800.0
"""The sweep normally runs when there is nothing else to do. But a pipeline of many topics never rests, and without a
sweep the finished jobs and the files of failed commits would grow without end.
"""
UPKEEP_SECONDS = 10.0
"""The pause between two looks for files that the log no longer needs: one small query if there are none."""


async def run_rounds(
    pipeline: Pipeline, lease: LeaseKeeper, clock: Clock, *, tidy: Callable[[], None] = lambda: None
) -> None:
    """Runs for ever. `tidy` is called after a round's commits were answered. Raises RewriteFailed when the engine has
    failed too often in a row."""
    engine_failures, pause, kept_up_at = 0, POLL_SECONDS, clock.monotonic()
    swept_at = clock.monotonic() - SWEEP_SECONDS  # at the first rest, since the pipeline before may have crashed
    while True:
        try:
            busy = await _round(pipeline, lease)
            engine_failures, pause = 0, POLL_SECONDS
            if busy:
                tidy()
            if (held := lease.held()) is not None:
                await pipeline.merge(held)
            if (held := lease.held()) is not None:
                await pipeline.cluster(held)
            if (held := lease.held()) is not None:
                await pipeline.rebuild(held)
            if lease.held() is not None and clock.monotonic() - kept_up_at > UPKEEP_SECONDS:
                await pipeline.upkeep()
                kept_up_at = clock.monotonic()
            wait_seconds = SWEEP_SECONDS_MAX if busy else SWEEP_SECONDS
            if lease.held() is not None and clock.monotonic() - swept_at >= wait_seconds:
                await pipeline.sweep()
                swept_at = clock.monotonic()
            if not busy:
                await _rest(pipeline, lease, clock)
        except LakestreamError as error:
            engine_failures += isinstance(error, RewriteFailed)
            if engine_failures >= ENGINE_FAILURES_MAX:
                raise
            log.warning("a round broke off; trying again", error=str(error), pause_seconds=pause)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)
            await clock.sleep(pause)


async def _rest(pipeline: Pipeline, lease: LeaseKeeper, clock: Clock) -> None:
    """Sleep until the next look for work, or until somebody requests the compaction of a topic."""
    for _ in range(REQUEST_LOOKS):
        await clock.sleep(POLL_SECONDS / REQUEST_LOOKS)
        if lease.held() is not None and await pipeline.has_new_requests():
            return


async def _round(pipeline: Pipeline, lease: LeaseKeeper) -> bool:
    """Returns whether there may be more to do at once."""
    held = lease.held()
    if held is None:
        return False
    done = await pipeline.round(held)
    if not done.was_idle:
        log.info("compacted", topics=done.committed, failed=done.failed, wal_bytes=done.bytes)
    return bool(done.committed)

"""Rounds for as long as the process lives: work while the lease is held, stand by while it is not, rest when idle.

What goes wrong in a round is logged and tried again, after a pause that grows. An engine that fails again and again is
given up: the process ends, and its supervisor starts it with a fresh one.
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
"""Between looks for something to do: small beside the freshness, and a look is one small query."""
PAUSE_SECONDS_MAX = 30.0
ENGINE_FAILURES_MAX = 3
SWEEP_SECONDS = 600.0
SWEEP_SECONDS_MAX = 1_800.0
"""Leftovers are swept when nothing else is to be done; but a pipeline of many topics never rests, and what it forgets
only then (jobs that are done, files of commits that were not) would grow without end."""
UPKEEP_SECONDS = 10.0
"""Between looks for files that the log no longer needs: one small query where there are none."""


async def run_rounds(
    pipeline: Pipeline, lease: LeaseKeeper, clock: Clock, *, tidy: Callable[[], None] = lambda: None
) -> None:
    """For ever. `tidy` is called when a round's commits were answered. Raises RewriteFailed when the engine has failed
    too often in a row."""
    engine_failures, pause, kept_up_at = 0, POLL_SECONDS, clock.monotonic()
    swept_at = clock.monotonic() - SWEEP_SECONDS  # at the first rest: whoever was here before may have crashed
    while True:
        try:
            busy = await _round(pipeline, lease)
            engine_failures, pause = 0, POLL_SECONDS
            if busy:
                tidy()
            if lease.held() is not None and clock.monotonic() - kept_up_at > UPKEEP_SECONDS:
                await pipeline.upkeep()
                kept_up_at = clock.monotonic()
            wait_seconds = SWEEP_SECONDS_MAX if busy else SWEEP_SECONDS
            if lease.held() is not None and clock.monotonic() - swept_at >= wait_seconds:
                await pipeline.sweep()
                swept_at = clock.monotonic()
        except LakestreamError as error:
            engine_failures += isinstance(error, RewriteFailed)
            if engine_failures >= ENGINE_FAILURES_MAX:
                raise
            log.warning("a round broke off; trying again", error=str(error), pause_seconds=pause)
            busy, pause = False, min(2 * pause, PAUSE_SECONDS_MAX)
        if not busy:
            await clock.sleep(pause)


async def _round(pipeline: Pipeline, lease: LeaseKeeper) -> bool:
    """Whether there may be more to do at once."""
    held = lease.held()
    if held is None:
        return False
    done = await pipeline.round(held)
    if not done.was_idle:
        log.info("compacted", topics=done.committed, failed=done.failed, wal_bytes=done.bytes)
    return bool(done.committed)

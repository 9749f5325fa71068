"""Waits for work that the pipeline was asked to do. If no pipeline runs, says so soon, and gives up after a minute."""

from lakestream.cli.failures import CommandFailed
from lakestream.cli.output import say
from lakestream.world.clock import Clock

_LOOK_SECONDS = 0.3
_SILENT_SECONDS_MAX = 2.0
"""After this time the user is told what the command waits for."""
_ABSENT_SECONDS_MAX = 60.0
"""A pipeline that was just started needs some seconds to claim its work."""


class PipelineWait:
    """One wait, which starts now."""

    def __init__(self, patience_seconds: float, clock: Clock) -> None:
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._began = self._seen = clock.monotonic()
        self._has_said = False

    async def go_on(self, pipeline: str | None, undone: str) -> None:
        """Pause until it is time to look again. `pipeline` is the running one, if any; `undone` begins the message of
        the CommandFailed that is raised when the time is over."""
        now = self._clock.monotonic()
        if pipeline is not None:
            self._seen, self._has_said = now, False
        self._check_absence(now - self._seen)
        if now - self._began > self._patience_seconds:
            raise CommandFailed(f"{undone} after {self._patience_seconds:g} s; the work goes on")
        await self._clock.sleep(_LOOK_SECONDS)

    def _check_absence(self, seconds: float) -> None:
        if seconds > min(_ABSENT_SECONDS_MAX, self._patience_seconds):
            raise CommandFailed(
                "no pipeline is running: start one with `lakestream pipeline`, or `lakestream up` without "
                "--no-pipeline, on a machine that has Java 17 or later. It then does what was asked for"
            )
        if seconds > _SILENT_SECONDS_MAX and not self._has_said:
            say("no pipeline is running; waiting for one ...")
            self._has_said = True

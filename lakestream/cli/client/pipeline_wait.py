"""Waits for the pipeline to do what it was asked. If none runs, it soon says so and gives up after a minute. If none
will start by itself, it gives up at once."""

from lakestream.administration.pipeline import START_ONE, PipelineState
from lakestream.cli.failures import CommandFailed
from lakestream.cli.output import say
from lakestream.world.clock import Clock

_LOOK_SECONDS = 0.3
_SILENT_SECONDS_MAX = 2.0
"""After this time the user is told what the command waits for."""
_ABSENT_SECONDS_MAX = 60.0
"""A pipeline that has just been started needs some seconds to claim its work."""
_LATER = "The pipeline then does what was asked for"


class PipelineWait:
    """One wait, which starts now."""

    def __init__(self, patience_seconds: float, clock: Clock) -> None:
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._began = self._seen = clock.monotonic()
        self._has_said = False

    async def go_on(self, pipeline: PipelineState, undone: str) -> None:
        """Until it is time to look again. `pipeline` is how that is, `undone` what to say where patience is over.
        Raises CommandFailed then."""
        now = self._clock.monotonic()
        if pipeline.name is not None:
            self._seen, self._has_said = now, False
        if pipeline.ruled_out is not None:
            raise CommandFailed(f"{pipeline.ruled_out}. {_LATER}")
        self._check_absence(now - self._seen)
        if now - self._began > self._patience_seconds:
            raise CommandFailed(f"{undone} after {self._patience_seconds:g} s; the work goes on")
        await self._clock.sleep(_LOOK_SECONDS)

    def _check_absence(self, seconds: float) -> None:
        if seconds > min(_ABSENT_SECONDS_MAX, self._patience_seconds):
            raise CommandFailed(f"no pipeline is running: {START_ONE}. {_LATER}")
        if seconds > _SILENT_SECONDS_MAX and not self._has_said:
            say("no pipeline is running; waiting for one ...")
            self._has_said = True

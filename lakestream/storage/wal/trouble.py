"""Logs trouble with making batches durable: once when it begins and once when it is over.

Flushes come many times a second and fail alike while a disk is full or a store is away. Producers get each error; the
log gets one line.
"""

import structlog

log = structlog.get_logger(__name__)


class Trouble:
    def __init__(self) -> None:
        self._met: str | None = None

    def met(self, error: Exception) -> None:
        """A step failed. It may be tried again, or given up."""
        kind = type(error).__name__
        if self._met != kind:
            self._met = kind
            log.warning("batches cannot be made durable; producers wait or are told to try again", error=str(error))

    def is_over(self) -> None:
        """A flush went through."""
        if self._met is not None:
            self._met = None
            log.info("batches are made durable again")

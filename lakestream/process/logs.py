"""Logs of a serving process: structlog to stderr, for people on a terminal, JSON lines elsewhere."""

import logging
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from lakestream.settings.model import LogSettings


def set_up_logs(settings: LogSettings, *, process: str) -> None:
    human = sys.stderr.isatty() if settings.format == "auto" else settings.format == "human"
    renderer: Any = structlog.dev.ConsoleRenderer() if human else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _Unfailing(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=process)
    # Libraries log the standard way. Their warnings go into the same stream.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


class _Unfailing:
    """A stream that drops text it cannot write: logs often lie on the disk that is full, and brokers outlive that."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

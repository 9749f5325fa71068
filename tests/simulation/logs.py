"""What the broker logs becomes part of the trace, where it explains a failure, instead of the terminal."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

from .trace import Trace


@contextmanager
def logs_in(trace: Trace) -> Iterator[None]:
    def note(_: object, level: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        trace.note("log", level, *(f"{name}={value}" for name, value in event.items()))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[note], cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)

"""Everything in the log and on the event loop that must not happen, whatever a client sends."""

import asyncio
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog


class Faults:
    def __init__(self) -> None:
        self.found: list[str] = []

    def see(self, logger: object, level: str, line: Any) -> Any:
        """A processor of structlog. Errors are faults, and so is every exception; refusals are info."""
        if level in ("error", "exception", "critical") or line.get("exc_info"):
            self.found.append(_shown(line))
        raise structlog.DropEvent

    def see_from_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.found.append(_shown({"event": context.get("message"), "exc_info": context.get("exception")}))


def _shown(line: Any) -> str:
    problem = line.get("exc_info")
    text = " ".join(f"{key}={value}" for key, value in line.items() if key != "exc_info")
    if isinstance(problem, BaseException):
        text += "\n" + "".join(traceback.format_exception(problem))
    return text


@contextmanager
def watching() -> Iterator[Faults]:
    """Logs of this process go nowhere else meanwhile."""
    before, faults = structlog.get_config(), Faults()
    structlog.configure(processors=[faults.see], cache_logger_on_first_use=False)
    try:
        yield faults
    finally:
        structlog.configure(**before)

"""What a run found: promises that were broken, in words."""

from .trace import Trace

BROKEN_MAX = 20
"""After so many the run tells nothing new."""


class Verdict:
    def __init__(self, trace: Trace) -> None:
        self.broken: list[str] = []
        self._trace = trace

    def breaks(self, promise: str, *facts: object) -> None:
        line = ": ".join((promise, " ".join(map(str, facts))))
        self._trace.note("BROKEN", line)
        if len(self.broken) < BROKEN_MAX:
            self.broken.append(line)

    def holds(self, kept: bool, promise: str, *facts: object) -> None:
        if not kept:
            self.breaks(promise, *facts)

"""What a piece of work took: wall-clock seconds, and CPU seconds of every process that did it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    wall_s: float
    cpu_s: float

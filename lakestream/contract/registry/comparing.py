"""Shared parts of the comparisons of all formats: differences, a memory of compared pairs, and a limit of work.

A schema may contain itself. A pair of types whose comparison is already under way further up is assumed to fit: if it
does not, the comparison further up finds that. A pair that was found not to fit never fits. A pair that fits is
remembered only if its comparison assumed nothing that is still undecided.
"""

from collections.abc import Callable
from typing import NamedTuple

from lakestream.contract.registry.limits import COMPARISONS_MAX
from lakestream.model.registry_errors import SchemaTooLarge


class Incompatibility(NamedTuple):
    """Why data written with one schema cannot be read with another: where in the reader's schema, and what to do."""

    kind: str
    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.path or '/'}: {self.why}"


Differences = list[Incompatibility]


class Comparison:
    """The comparisons of one request, over all versions."""

    def __init__(self, comparisons_max: int = COMPARISONS_MAX) -> None:
        self._left = comparisons_max
        self._open: dict[tuple[int, int], int] = {}
        self._known: dict[tuple[int, int], Differences] = {}
        self._assumed_depth = 0
        self._held: list[object] = []

    def pair(self, writer: object, reader: object, compare: Callable[[], Differences]) -> Differences:
        """The differences of a pair of types, which are identified as objects."""
        key = (id(writer), id(reader))
        if key in self._known:
            return self._known[key]
        if key in self._open:
            self._assumed_depth = min(self._assumed_depth, self._open[key])
            return []
        self._spend()
        return self._compared(key, writer, reader, compare)

    def _compared(
        self, key: tuple[int, int], writer: object, reader: object, compare: Callable[[], Differences]
    ) -> Differences:
        depth = len(self._open)
        outer, self._assumed_depth = self._assumed_depth, depth
        self._open[key] = depth
        try:
            differences = compare()
        finally:
            del self._open[key]
        if differences or self._assumed_depth >= depth:
            self._held += (writer, reader)  # keep them alive: an id is unique only among living objects
            self._known[key] = differences
        self._assumed_depth = min(outer, self._assumed_depth)
        return differences

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise SchemaTooLarge(
                f"comparing the schemas takes more than {COMPARISONS_MAX} steps: make the schema smaller, or its "
                "unions and combinations narrower"
            )

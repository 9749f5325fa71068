"""Joins the rules of several files whose rows become one file: one set of writers, one list of shapes for each.

Values are not decoded for it. A row names its writer by number, which means the same in every file of a table. It names
its shape by its place in the file's own list, so files whose lists differ get new places.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.values.rules import Rules

SHAPES_MAX = 1_000
"""Shapes of one writer in one file, as when values are decoded: more would make the footer larger than the rows."""


class JoinedRules(NamedTuple):
    text: str
    places: tuple[Mapping[int, NDArray[np.int32]], ...]
    """For each file, by the writer's number: the new place of each shape."""


def can_be_joined(texts: Sequence[str]) -> bool:
    """Whether rows under these rules can lie in one file: the same columns, and no writer with two meanings."""
    all_rules = list(map(Rules.from_text, dict.fromkeys(texts)))
    if len(all_rules) < 2:
        return True
    writers: dict[int, Writer] = {}
    for rules in all_rules:
        for writer in rules.writers:
            if writers.setdefault(writer.number, writer) != writer:
                return False
    shapes = {number: {shape for rules in all_rules for shape in rules.shapes.get(number, ())} for number in writers}
    return len({rules.layout.to_text() for rules in all_rules}) == 1 and max(map(len, shapes.values()), default=0) <= (
        SHAPES_MAX
    )


def join_rules(texts: Sequence[str]) -> JoinedRules:
    """Raises ValueError if they cannot be joined."""
    if not can_be_joined(texts):
        raise ValueError("the files were written under rules that do not fit into one file")
    by_text = {text: Rules.from_text(text) for text in texts}
    writers: dict[int, Writer] = {}
    shapes: dict[int, dict[str, int]] = {}
    places: dict[str, Mapping[int, NDArray[np.int32]]] = {}
    for text, rules in by_text.items():
        for writer in rules.writers:
            writers.setdefault(writer.number, writer)
        own: dict[int, NDArray[np.int32]] = {}
        for number, listed in rules.shapes.items():
            known = shapes.setdefault(number, {})
            own[number] = np.array([known.setdefault(shape, len(known)) for shape in listed], np.int32)
        places[text] = own
    first = next(iter(by_text.values()))
    joined = Rules(
        first.layout,
        tuple(writers.values()),
        {number: list(known) for number, known in shapes.items()},
        restated=any(rules.restated for rules in by_text.values()),
    )
    return JoinedRules(joined.to_text(), tuple(places[text] for text in texts))


def placed_anew(shapes: pa.Array, writers: pa.Array, places: Mapping[int, NDArray[np.int32]]) -> pa.Array:
    """The rows' shapes by their new places. `writers` are the numbers of the rows' writers."""
    moved = {number: new for number, new in places.items() if not np.array_equal(new, np.arange(len(new)))}
    if not moved or shapes.null_count == len(shapes):
        return shapes
    numbers = pc.fill_null(writers, -1).to_numpy()
    old = pc.fill_null(shapes, -1).to_numpy()
    found = old.copy()
    for number, new in moved.items():
        rows = (numbers == number) & (old >= 0)
        found[rows] = new[old[rows]]
    return pa.array(found, pa.int32(), mask=shapes.is_null().to_numpy(zero_copy_only=False))

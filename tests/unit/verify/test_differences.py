"""Records compared one by one: what is wrong, and at which offsets."""

import numpy as np
import pytest

from lakestream.table.verify.verification import Side, record_problems


def side(records: list[tuple[int, int]]) -> Side:
    return np.array([offset for offset, _ in records], np.int64), np.array([hash for _, hash in records], np.int64)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ([(0, 5), (1, 6), (2, 7)], None),
        ([(0, 5), (2, 7)], "1 records are in the topic and not in the table: offsets 1"),
        ([(0, 5), (1, 6), (2, 7), (3, 8)], "1 records are in the table and not in the topic: offsets 3"),
        ([(0, 5), (1, 6), (1, 6), (2, 7)], "1 records are in the table more than once: offsets 1"),
        ([(0, 5), (1, 9), (2, 9)], "2 records differ between topic and table: offsets 1, 2"),
        ([], "3 records are in the topic and not in the table: offsets 0, 1, 2"),
    ],
)
def test_each_kind_of_difference_is_named(table: list[tuple[int, int]], problem: str | None) -> None:
    found = list(record_problems(4, side([(0, 5), (1, 6), (2, 7)]), side(table)))
    assert found == ([] if problem is None else [f"partition 4: {problem}"])

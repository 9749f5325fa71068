"""Records compared one by one: what is wrong, and at which offsets."""

import numpy as np
import pytest

from lakestream.table.verify.verification import Side, beyond_problems, record_problems


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


def test_a_record_that_the_topic_has_twice_is_named() -> None:
    found = list(record_problems(4, side([(0, 5), (1, 6), (1, 6)]), side([(0, 5), (1, 6)])))
    assert found == ["partition 4: 1 records come from the topic more than once: offsets 1"]


@pytest.mark.parametrize(
    ("ends", "problem"),
    [
        ({0: 10, 1: 3}, None),
        ({0: 11}, "partition 0: the table has rows up to offset 10, though by the index it ends before 10"),
        ({2: 1}, "the table has rows of partition 2, and the topic has no such partition"),
        ({None: 1}, "the table has rows of partition None, and the topic has no such partition"),
    ],
)
def test_rows_beyond_the_end_of_the_table_are_named(ends: dict[int | None, int], problem: str | None) -> None:
    assert list(beyond_problems(ends, {0: 10, 1: 5})) == ([] if problem is None else [problem])
    assert list(beyond_problems(ends, {})) == []  # the topic is gone, and so is what its table should end at

"""Rules of several files joined: one list of writers and shapes, and every row finds its own."""

import numpy as np
import pyarrow as pa
import pytest

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.columns.layout import Layout
from lakestream.contract.values.joining import SHAPES_MAX, can_be_joined, join_rules, placed_anew
from lakestream.contract.values.rules import Rules

JSON = Writer(number=1, format="json", codec=1, framed=False)
AVRO = Writer(number=7, format="avro", codec=1, framed=True, schema='"string"')


def rules(*shapes: str, writers: tuple[Writer, ...] = (JSON,), restated: bool = False) -> str:
    return Rules(Layout(), writers, {1: shapes}, restated).to_text()


def test_shapes_get_places_in_one_list_and_rows_follow() -> None:
    joined = join_rules([rules("a", "b"), rules("c", "a"), rules("a", "b")])
    assert Rules.from_text(joined.text).shapes == {1: ["a", "b", "c"]}
    writers = pa.array([1, 1, None, 7], pa.int32())
    shapes = pa.array([0, 1, None, 0], pa.int32())
    placed = [placed_anew(shapes, writers, places).to_pylist() for places in joined.places]
    assert placed == [[0, 1, None, 0], [2, 0, None, 0], [0, 1, None, 0]]


def test_writers_of_all_files_are_in_the_joined_rules() -> None:
    joined = Rules.from_text(join_rules([rules("a"), rules(writers=(AVRO,), restated=True)]).text)
    assert joined.writers == (JSON, AVRO)
    assert joined.restated


def test_rules_that_contradict_each_other_are_not_joined() -> None:
    other = Writer(number=1, format="json", codec=2, framed=False)
    assert not can_be_joined([rules("a"), rules("a", writers=(other,))])
    with pytest.raises(ValueError, match="do not fit"):
        join_rules([rules("a"), rules("a", writers=(other,))])


def test_a_file_does_not_get_more_shapes_than_compaction_would_give_it() -> None:
    many = [str(number) for number in range(SHAPES_MAX)]
    assert can_be_joined([rules(*many), rules(*many[::-1])])
    assert not can_be_joined([rules(*many), rules("one more")])


def test_rows_without_a_shape_keep_none() -> None:
    nothing = pa.nulls(3, pa.int32())
    assert placed_anew(nothing, nothing, {1: np.array([5], np.int32)}) is nothing

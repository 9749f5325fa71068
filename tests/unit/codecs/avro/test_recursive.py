"""Types that contain themselves: JSON text in the table, bytes kept for replay."""

import json
from typing import Any

import pyarrow as pa
import pytest

from lakestream.contract.codecs.avro import text
from lakestream.contract.codecs.avro.kernels.skipping import TEXT_DEPTH_MAX
from tests.unit.codecs.avro.samples import codec_of, written

TREE: Any = {
    "type": "record",
    "name": "Tree",
    "fields": [
        {"name": "label", "type": "string"},
        {"name": "weight", "type": ["null", "double", {"type": "fixed", "name": "F", "size": 2}]},
        {"name": "children", "type": {"type": "array", "items": "Tree"}},
        {"name": "named", "type": {"type": "map", "values": ["null", "Tree"]}},
        {"name": "mood", "type": {"type": "enum", "name": "Mood", "symbols": ["GOOD", "BAD"]}},
    ],
}
TOP: Any = {
    "type": "record",
    "name": "Top",
    "fields": [{"name": "id", "type": "int"}, {"name": "tree", "type": ["null", TREE]}, {"name": "z", "type": "int"}],
}


def tree(label: str, *children: Any, **named: Any) -> Any:
    return {"label": label, "weight": 1.5, "children": list(children), "named": named, "mood": "BAD"}


def chain(depth: int) -> Any:
    found = tree("leaf")
    for level in range(depth):
        found = tree(str(level), found)
    return found


def test_the_text_tells_the_whole_value_and_fields_behind_it_are_read() -> None:
    values = [{"id": 1, "tree": tree("a", tree("b"), x=None, y=tree("ü\n")), "z": 7}, {"id": 2, "tree": None, "z": 8}]
    decoded = codec_of(TOP).decode(written(TOP, values))
    first, second = decoded.columns.to_pylist()
    assert json.loads(first["tree"]) == values[0]["tree"]
    assert (first["z"], second) == (7, {"id": 2, "tree": None, "z": 8})
    assert not decoded.exact.any()


def test_the_outermost_record_has_columns_of_its_own() -> None:
    decoded = codec_of(TREE).decode(written(TREE, [tree("root", tree("child"))]))
    (row,) = decoded.columns.to_pylist()
    assert (row["label"], [json.loads(one)["label"] for one in row["children"]]) == ("root", ["child"])


def test_what_json_has_no_word_for_is_a_string() -> None:
    odd = {**tree("x"), "weight": float("nan")}
    decoded = codec_of(TOP).decode(written(TOP, [{"id": 1, "tree": odd, "z": 1}]))
    assert json.loads(decoded.columns["tree"][0].as_py())["weight"] == "nan"


def test_a_value_that_is_nested_too_deep_is_an_error_of_its_row_alone() -> None:
    values = [{"id": n, "tree": chain(depth), "z": n} for n, depth in enumerate((10, TEXT_DEPTH_MAX, 3))]
    decoded = codec_of(TOP).decode(written(TOP, values))
    assert decoded.errors.rows == [1]
    assert decoded.errors.reasons == [f"field 'tree' is nested more than {TEXT_DEPTH_MAX} deep"]
    assert decoded.columns["z"].to_pylist() == [0, None, 2]


def test_a_value_whose_text_would_be_too_long_has_none_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "CHARACTERS_MAX", 1_000)
    values = [{"id": n, "tree": tree("a", *[tree("b")] * count), "z": n} for n, count in enumerate((1, 100, 2))]
    decoded = codec_of(TOP).decode(written(TOP, values))
    assert decoded.errors.rows == []
    assert [one is None for one in decoded.columns["tree"].to_pylist()] == [False, True, False]
    assert decoded.columns["z"].to_pylist() == [0, 1, 2]


def test_a_cut_value_is_an_error() -> None:
    (row,) = written(TOP, [{"id": 1, "tree": tree("a", tree("b")), "z": 7}]).to_pylist()
    cut = [row[:size] for size in range(len(row))]
    decoded = codec_of(TOP).decode(pa.array([*cut, row], type=pa.binary()))
    assert decoded.errors.rows == list(range(len(row)))

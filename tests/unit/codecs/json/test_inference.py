"""Tables without a schema: keys become columns, whatever they are called."""

import json
from typing import Any

import pyarrow as pa

from lakestream.contract.codecs.json.codec import bind
from lakestream.contract.codecs.json.inference import grown_by_unknown, joined_found, wanted_from_unknown
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.layout import Layout

from .samples import WRITER, binary, codec_of, learned, replayed


def inferred(values: list[dict[str, Any]]) -> Layout:
    return learned([json.dumps(value).encode() for value in values])


def test_kinds_are_those_that_hold_all_rows() -> None:
    values: list[dict[str, Any]] = [
        {"whole": 1, "part": 1, "flag": True, "text": "a", "mixed": 1, "deep": {"a": 1}, "big": 2**63, "void": None},
        {"whole": -(2**63), "part": 1.5, "flag": None, "text": "", "mixed": "1", "deep": [1], "odd": [1], "void": None},
        {"flag": False, "odd": True},
    ]
    layout = inferred(values)
    kinds = {column.keys[0]: (column.kind, holds_json_text(column)) for column in layout.columns}
    assert kinds == {
        "whole": ("long", False),
        "part": ("double", False),
        "flag": ("boolean", False),
        "text": ("string", False),
        "mixed": ("string", True),
        "deep": ("string", True),
        "big": ("double", False),
        "odd": ("string", True),
    }
    rows = [json.dumps(value).encode() for value in values]
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary(rows))
    assert decoded.columns.column("mixed").to_pylist() == ["1", '"1"', None]
    assert decoded.exact.tolist() == [False, False, True]  # a key that was always null has no column yet
    assert replayed(codec, decoded) == {2: rows[2]}


def test_kinds_of_two_decodes_join_as_those_of_two_rows_do() -> None:
    pairs: list[tuple[Any, Any]] = [(1, 1.5), (1, "a"), (True, 1), ("a", "b"), ([1], "a"), (2.5, 1), (True, False)]
    pairs += [([1], [2.5]), ([1], ["a"]), ([1, "a"], [1]), ({"x": 1}, {"x": 1.5, "y": "a"}), ({"x": 1}, [1]), ({}, {})]
    pairs += [({"x": {"y": 1}}, {"x": {"z": [1]}}), ({"x": {"y": 1}}, {"x": 5})]
    for one, other in pairs:
        apart = [bind(WRITER, Layout()).decode(binary([json.dumps({"k": v}).encode()])).unknown for v in (one, other)]
        rows = binary([json.dumps({"k": value}).encode() for value in (one, other)])
        assert bind(WRITER, Layout()).decode(rows).unknown == {"k": joined_found(apart[0]["k"], apart[1]["k"])}


def test_odd_keys_get_columns_and_their_rows_come_back() -> None:
    value = {"": 1, "a.b": 2, "é ☃": 3, "Name": 4, "name": 5, "__offset": 6, "_pos": 7, 'q"uote': 8, "new\nline": 9}
    layout = inferred([value])
    names = [column.name for column in layout.columns]
    assert len({name.lower() for name in names}) == len(value)
    assert not any(name.startswith("__") for name in names)
    codec = bind(WRITER, layout)
    for row in (json.dumps(value).encode(), json.dumps(value, ensure_ascii=False).encode()):
        decoded = codec.decode(binary([row]))
        assert [column[0].as_py() for column in decoded.columns.columns] == list(value.values())
        assert replayed(codec, decoded) == {0: row}


def test_a_table_gets_no_more_columns_than_it_may() -> None:
    unknown = bind(WRITER, Layout()).decode(binary([json.dumps({f"k{n}": n for n in range(10_000)}).encode()])).unknown
    layout = grown_by_unknown(unknown, Layout())
    assert [column.name for column in layout.columns] == [*(f"k{n}" for n in range(500)), "__rest"]
    assert wanted_from_unknown({"one more": "long"}, layout) == ()
    assert [one.key for one in wanted_from_unknown({"a": "long", "b": "long"}, Layout(), columns_max=1)] == ["a"]
    assert wanted_from_unknown({"x" * 2_000: "long"}, Layout()) == ()


def test_broken_rows_bring_no_columns() -> None:
    decoded = bind(WRITER, Layout()).decode(binary([b'{"a":1,"b":', b'{"c":1}']))
    assert decoded.unknown == {"c": "long"}


def test_a_whole_number_column_does_not_become_a_double() -> None:
    codec = codec_of({"n": "long"})
    decoded = codec.decode(binary([b'{"n":1}', b'{"n":1.5}']))
    assert (decoded.columns.column(0).to_pylist(), decoded.unknown) == ([1, None], {})
    assert decoded.exact.tolist() == [True, False]


def test_columns_of_kinds_that_json_does_not_fill_are_null_and_rows_keep_their_bytes() -> None:
    codec = codec_of({"day": "date", "n": "int"})
    decoded = codec.decode(
        binary([b'{"day":"2026-01-01","n":1}', b'{"day":null,"n":2147483648}', b'{"day":null,"n":-5}'])
    )
    assert decoded.columns.column("day").null_count == 3
    assert decoded.columns.column("n") == pa.array([1, None, -5], pa.int32())
    assert replayed(codec, decoded) == {2: b'{"day":null,"n":-5}'}

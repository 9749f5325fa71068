"""Objects inside of objects are structs, arrays of one kind are lists, and every byte comes back."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.codec import bind
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import JSON_TEXT, holds_json_text
from lakestream.contract.columns.kinds import DOUBLE, LIST, STRING, STRUCT
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.rest import with_rest

from .samples import WRITER, binary, codec_of, layout_of, learned, replayed

STYLES: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"indent": 1}, {"sort_keys": True}]
names = st.sampled_from(["a", "b", "c", "A", "", "é", "x.y", "__offset"])
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), max_size=6)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=8
)
objects = st.dictionaries(names, anything, max_size=5).map(lambda value: {"id": 1} | value)
styles = st.sampled_from(STYLES)


def written(values: list[dict[str, Any]], style: dict[str, Any]) -> list[bytes]:
    return [json.dumps(value, **style).encode() for value in values]


def check(column: Column, shown: Any, value: Any) -> None:
    """What a column shows of a value that it was made for."""
    if value is None:
        assert shown is None
    elif holds_json_text(column):
        assert json.loads(shown) == value
    elif column.kind == STRUCT:
        for child in column.children:
            check(child, shown[child.name], value.get(child.keys[0]))
    elif column.kind == LIST:
        for element, own in zip(shown, value, strict=True):
            check(column.children[0], element, own)
    elif column.kind == STRING and not isinstance(value, str):
        assert json.loads(shown) == value, "a string column without a schema holds other values as their JSON"
    else:
        assert isinstance(shown, bool) == isinstance(value, bool)
        assert shown == (float(value) if column.kind == DOUBLE else value)


@given(st.lists(objects, max_size=8), styles)
@settings(max_examples=200, deadline=None)
def test_columns_that_were_inferred_hold_every_value_and_give_it_back(
    values: list[dict[str, Any]], style: dict[str, Any]
) -> None:
    rows = written(values, style)
    layout = learned(rows)
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary(rows))
    assert (decoded.errors.rows, decoded.unknown) == ([], {})
    for shown, value in zip(decoded.columns.to_pylist(), values, strict=True):
        for column in layout.columns:
            check(column, shown[column.name], value.get(column.keys[0]))
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}


@given(st.lists(st.lists(objects, min_size=1, max_size=4), min_size=2, max_size=4), styles)
@settings(max_examples=100, deadline=None)
def test_columns_only_grow_when_new_keys_come_and_old_rows_fit_as_before(
    batches: list[list[dict[str, Any]]], style: dict[str, Any]
) -> None:
    layout = Layout()
    for values in batches:
        rows = written(values, style)
        before, layout = layout, learned(rows, layout)
        assert Layout.from_text(layout.to_text()) == layout
        for known in (before, layout):
            codec = bind(WRITER, known)
            decoded = codec.decode(binary(rows))
            assert decoded.errors.rows == []
            assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}
    kinds = {column.id: column.kind for column in before.columns for column in column.walk()}
    grown = {column.id: column.kind for column in layout.columns for column in column.walk()}
    assert kinds.items() <= grown.items()


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "long": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "string": texts,
    JSON_TEXT: anything,
}


@st.composite
def declared_kinds(draw: st.DrawFn, depth: int = 0) -> dict[str, Found]:
    kinds: dict[str, Found] = {}
    for key in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        choice = draw(st.integers(0, 5 if depth < 3 else 3))
        if choice == 5:
            kinds[key] = draw(declared_kinds(depth + 1))
        elif choice == 4:
            kinds[key] = [draw(st.sampled_from(["long", "double", "boolean", "string"]))]
        else:
            kinds[key] = draw(st.sampled_from(sorted(SCALARS)))
    return kinds


def values_of(found: Found) -> st.SearchStrategy[Any]:
    if isinstance(found, dict):
        parts = {key: st.none() | values_of(inner) for key, inner in found.items()}
        return st.fixed_dictionaries({}, optional=parts)
    return st.lists(st.none() | SCALARS[found[0]], max_size=4) if isinstance(found, list) else SCALARS[found]


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_values_of_any_schema_come_back_from_their_columns_alone(data: st.DataObject) -> None:
    kinds = data.draw(declared_kinds())
    values = data.draw(st.lists(values_of(kinds), min_size=1, max_size=6))
    rows = written(values, data.draw(st.sampled_from(STYLES[:2])))
    layout = layout_of(kinds)
    codec = bind(WRITER, layout, declared=True)
    decoded = codec.decode(binary(rows))
    assert decoded.errors.reasons == []
    for shown, value in zip(decoded.columns.to_pylist(), values, strict=True):
        for column in layout.columns:
            check(column, shown[column.name], value.get(column.keys[0]))
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_a_null_an_object_of_nulls_and_an_empty_one_are_three_things() -> None:
    rows = [
        b'{"o":null}',
        b'{"o":{"x":null,"in":null}}',
        b'{"o":{}}',
        b'{"o":{"in":{}}}',
        b"{}",
        b'{"o":{"in":{"y":null}}}',
    ]
    codec = codec_of({"o": {"x": "long", "in": {"y": "string"}}})
    decoded = codec.decode(binary(rows))
    assert [row["o"] for row in decoded.columns.to_pylist()] == [
        None,
        {"x": None, "in": None},
        {"x": None, "in": None},
        {"x": None, "in": {"y": None}},
        None,
        {"x": None, "in": {"y": None}},
    ]
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_the_same_key_in_two_objects_is_two_columns() -> None:
    rows = [b'{"a":{"x":1,"y":2},"b":{"x":3,"y":4},"x":5,"y":6}', b'{"b":{"y":7},"y":8,"a":{"y":9},"x":10}']
    codec = codec_of({"a": {"x": "long", "y": "long"}, "b": {"x": "long", "y": "long"}, "x": "long", "y": "long"})
    decoded = codec.decode(binary(rows * 2))
    assert decoded.columns.to_pylist() == 2 * [
        {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}, "x": 5, "y": 6},
        {"a": {"x": None, "y": 9}, "b": {"x": None, "y": 7}, "x": 10, "y": 8},
    ]
    assert replayed(codec, decoded) == dict(enumerate(rows * 2))


def test_the_spaces_and_order_of_an_object_inside_are_part_of_the_shape() -> None:
    rows = [b'{"o":{"x":1,"s":"a"}}', b'{"o": { "s" : "b" ,"x":2 } }', b'\n{"o":\t{"x":3}}\n']
    codec = codec_of({"o": {"x": "long", "s": "string"}})
    decoded = codec.decode(binary(rows))
    assert decoded.exact.all()
    assert len(codec.shapes) == 3
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_objects_of_one_form_have_one_shape() -> None:
    rows = [b'{"at":{"x":%d.5,"tags":["t%d"%s]}}' % (n, n, b',"u"' * (n % 3)) for n in range(100)]
    codec = codec_of({"at": {"x": "double", "tags": ["string"]}})
    decoded = codec.decode(binary(rows))
    assert len(codec.shapes) == 1
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_slices_of_nested_columns_are_read_where_they_begin() -> None:
    rows = [b'{"o":{"n":%d,"l":[%d,%d]},"b":[true,null]}' % (n, n, -n) if n % 4 else b'{"o":null}' for n in range(30)]
    codec = codec_of({"o": {"n": "long", "l": ["long"]}, "b": ["boolean"]})
    decoded = codec.decode(binary(rows)[5:29])
    assert decoded.shapes is not None
    assert codec.encode(decoded.columns.slice(4, 13), decoded.shapes[4:17]).to_pylist() == rows[9:22]


def test_a_value_that_is_no_object_is_null_where_a_struct_is_and_keeps_its_bytes() -> None:
    rows = [b'{"o":5}', b'{"o":[1]}', b'{"o":"x"}', b'{"o":{"x":"text"}}', b'{"o":{"x":1}}']
    decoded = codec_of({"o": {"x": "long"}}).decode(binary(rows))
    assert [row["o"] for row in decoded.columns.to_pylist()] == [None, None, None, {"x": None}, {"x": 1}]
    assert decoded.exact.tolist() == [False, False, False, False, True]
    assert decoded.errors.rows == []


MISFITS = {
    b'{"o":5}': "field 'o' (byte 5): a number where object is declared",
    b'{"o":[]}': "field 'o' (byte 5): an array where object is declared",
    b'{"o":{"x":"1"}}': "field 'o.x' (byte 10): a string where long is declared",
    b'{"o":{"l":{}}}': "field 'o.l' (byte 10): an object where array is declared",
    b'{"o":{"l":[1,"a"]}}': "field 'o.l' (byte 13): a string where long is declared",
    b'{"o":{"l":[1,[2]]}}': "field 'o.l' (byte 13): an array where long is declared",
    b'{"o":{"l":[1 2]}}': "field 'o.l' (byte 13): a comma or a closing bracket is due, found '2'",
    b'{"o":{"l":[1,': "field 'o.l' (byte 13): ends within the object",
    b'{"o":{"x":1,"x":2}}': "field 'o.x' (byte 11): the key occurs twice",
    b'{"o":{},"o":{}}': "field 'o' (byte 7): the key occurs twice",
    b'{"o":null,"o":{"x":1}}': "field 'o' (byte 9): the key occurs twice",
    b'{"o":{"x":1}': "byte 12: ends within the object",
    b'{"o":{"x":1}}}': "byte 13: goes on after the object with '}'",
    b'{"o":{"x":1,}}': "byte 12: a key in double quotes is due, found '}'",
    b'{"o":{"x" 1}}': "byte 10: a colon is due after the key, found '1'",
}


@pytest.mark.parametrize("bad", MISFITS)
def test_what_is_wrong_inside_of_an_object_is_told_by_its_path(bad: bytes) -> None:
    good = [b'{"o":{"x":1,"l":[7]}}', b'{"o":{"x":2,"l":[null]}}']
    codec = codec_of({"o": {"x": "long", "l": ["long"]}}, declared=True)
    decoded = codec.decode(binary([good[0], bad, good[1]]))
    assert (decoded.errors.rows, decoded.errors.reasons) == ([1], [MISFITS[bad]])
    assert decoded.columns.column("o").to_pylist() == [{"x": 1, "l": [7]}, None, {"x": 2, "l": [None]}]
    assert replayed(codec, decoded) == {0: good[0], 2: good[1]}


MUTATED = [
    b'{"o":{"x":1,"in":{"y":"z"}},"l":["a","b"],"d":[1.5,null],"o2":{"x":[true]}}',
    b'{"o": {"in": {}, "x": -7}, "l": [], "o2": null, "d": [2.5, 1e-07]}',
    b'{"o":null,"l":null,"o2":{"x":[]}}',
]
PIECES = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"9", b".", b" ", b"null", b'"x":', b'{"x":', b"{}"]


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_mutated_rows_are_judged_as_pythons_parser_judges_them(seed: int, declared: bool, rest: bool) -> None:
    rng = random.Random(seed)
    rows = []
    for _ in range(150):
        mutated = bytearray(rng.choice(MUTATED))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(mutated) + 1)
            mutated[at : at + rng.randrange(3)] = rng.choice(PIECES)
        rows.append(bytes(mutated))
    kinds: dict[str, Found] = {"o": {"x": "long", "in": {"y": "string"}}, "l": ["string"], "d": ["double"]}
    layout = layout_of(kinds | {"o2": {"x": ["boolean"]}})
    codec = bind(WRITER, with_rest(layout) if rest else layout, declared=declared)
    decoded = codec.decode(binary(rows))
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}
    reasons = dict(zip(decoded.errors.rows, decoded.errors.reasons, strict=True))
    for number, row in enumerate(rows):
        try:
            value = json.loads(row)
        except ValueError:
            assert number in reasons, row
            continue
        if number in reasons:
            assert any(word in reasons[number] for word in ("declared", "beyond", "twice", "not a JSON object")), row
        elif decoded.exact[number]:
            shown = decoded.columns.slice(number, 1).to_pylist()[0]
            for column in layout.columns:
                check(column, shown[column.name], value.get(column.keys[0]))


def test_keys_that_come_twice_in_an_object_without_columns_are_kept_as_they_are() -> None:
    row = b'{"o":{"x":1,"x":2},"t":{"a":1,"a":[2]}}'
    assert bind(WRITER, Layout()).decode(binary([row])).errors.rows == []
    codec = codec_of({"o": JSON_TEXT, "t": {"b": "long"}})
    decoded = codec.decode(binary([row]))
    assert decoded.errors.rows == []
    assert decoded.columns.to_pylist() == [{"o": '{"x":1,"x":2}', "t": {"b": None}}]
    assert decoded.unknown == {"t": {"a": "long"}}


def test_a_table_that_has_text_for_an_object_keeps_it() -> None:
    layout = layout_of({"o": JSON_TEXT})
    row = b'{"o":{"x":1},"new":{"y":1}}'
    grown = learned([row], layout)
    assert [(column.keys[0], column.kind) for column in grown.columns] == [("o", "string"), ("new", "struct")]
    codec = bind(WRITER, grown)
    decoded = codec.decode(binary([row]))
    assert decoded.columns.to_pylist() == [{"o": '{"x":1}', "new": {"y": 1}}]
    assert replayed(codec, decoded) == {0: row}


def test_names_that_clash_or_are_odd_are_told_apart_inside_of_structs_too() -> None:
    row = b'{"o":{"Name":1,"name":2,"":3,"a.b":4,"__offset":5,"n\\u00e9":6}}'
    layout = learned([row])
    names = [child.name for child in layout.columns[0].children]
    assert len({name.lower() for name in names}) == 6
    assert not any(name.startswith("__") for name in names)
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary([row]))
    assert list(decoded.columns.to_pylist()[0]["o"].values()) == [1, 2, 3, 4, 5, 6]
    assert replayed(codec, decoded) == {0: row}


def test_objects_whose_keys_are_data_stay_text() -> None:
    by_id = [json.dumps({"by": {f"id-{row}-{n}": n for n in range(5)}}).encode() for row in range(50)]
    wide = [json.dumps({"by": {f"k{n}": n for n in range(101)}}).encode()]
    empty = [b'{"by":{}}', b'{"by":{"x":null}}']
    for rows in (by_id, wide, empty):
        (column,) = learned(rows).columns
        assert holds_json_text(column)
        decoded = bind(WRITER, learned(rows)).decode(binary(rows))
        assert decoded.exact.all()


def test_a_struct_gets_no_more_keys_than_it_may() -> None:
    layout = layout_of({"o": {"first": "long"}})
    for start in range(0, 1000, 50):
        layout = learned([json.dumps({"o": {f"k{n}": n for n in range(start, start + 50)}}).encode()], layout)
    assert len(layout.columns) == 1
    assert len(layout.columns[0].children) == 100


def test_all_parts_count_among_the_columns_of_a_table() -> None:
    rows = [json.dumps({f"o{k}": {f"k{n}": n for n in range(49)} for k in range(12)}).encode()]
    layout = learned(rows)
    assert [column.kind for column in layout.columns] == [STRUCT] * 10 + [STRING]
    decoded = bind(WRITER, layout).decode(binary(rows))
    assert json.loads(decoded.columns.column("__rest")[0].as_py()).keys() == {"o10", "o11"}
    assert decoded.exact.all()


def test_arrays_that_a_list_could_not_give_back_stay_text() -> None:
    for array in (b"[1 , 2]", b"[ 1]", b"[1,2, 3]", b"[]", b"[1,[2]]", b'[1,"a"]', b"[null]", b"[1,  2]", b"[1,2\n]"):
        (column,) = learned([b'{"l":%s}' % array]).columns
        assert holds_json_text(column), array
        assert bind(WRITER, learned([b'{"l":%s}' % array])).decode(binary([b'{"l":%s}' % array])).exact.all()


def test_deep_and_giant_values_have_bounds() -> None:
    deep = b'{"o":' * 10_000 + b"1" + b"}" * 10_000
    arrays = b'{"o":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    giant = b'{"o":[' + b",".join(b"%d" % n for n in range(200_000)) + b"]}"
    decoded = bind(WRITER, Layout()).decode(binary([deep, arrays, giant]))
    assert decoded.errors.rows == [0, 1]
    assert all("nested deeper than 64 levels" in reason for reason in decoded.errors.reasons)
    assert decoded.unknown == {"o": ["long"]}
    codec = codec_of({"o": ["long"]})
    decoded = codec.decode(binary([deep, giant, b'{"o":[]}']))
    assert decoded.columns.column(0).to_pylist() == [None, list(range(200_000)), []]
    assert replayed(codec, decoded) == {1: giant, 2: b'{"o":[]}'}
    levels = {"o": {"o": {"o": {"o": {"o": {"o": {"o": {"o": {"o": {"o": 1}}}}}}}}}}
    row = json.dumps(levels).encode()
    inner = learned([row]).columns[0]
    depth = 1
    while inner.kind == STRUCT:
        inner, depth = inner.children[0], depth + 1
    assert (depth, holds_json_text(inner)) == (9, True)
    assert bind(WRITER, learned([row])).decode(binary([row])).exact.all()

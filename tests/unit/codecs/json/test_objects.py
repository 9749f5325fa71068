"""Arrays of objects are lists of structs, at every depth, and every byte comes back."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.codec import LISTS_WITHIN_MAX, bind
from lakestream.contract.codecs.json.composing import composed, decomposed
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.json_text import JSON_TEXT, holds_json_text
from lakestream.contract.columns.layout import Layout

from .samples import WRITER, binary, codec_of, layout_of, learned, replayed
from .test_nested import PIECES, SCALARS, STYLES, check, names, written

ITEMS: dict[str, Found] = {"id": "long", "items": [{"sku": "string", "price": "double"}]}


@st.composite
def kinds_with_objects(draw: st.DrawFn, depth: int = 0) -> dict[str, Found]:
    kinds: dict[str, Found] = {}
    for key in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        choice = draw(st.integers(0, 6 if depth < 3 else 3))
        if choice >= 5:
            kinds[key] = [draw(kinds_with_objects(depth + 1))]
        elif choice == 4:
            kinds[key] = draw(kinds_with_objects(depth + 1))
        elif choice == 3:
            kinds[key] = [draw(st.sampled_from(["long", "double", "boolean", "string"]))]
        else:
            kinds[key] = draw(st.sampled_from(sorted(SCALARS)))
    return kinds


def values_of(found: Found, *, alike: bool) -> st.SearchStrategy[Any]:
    """`alike`: all objects of one array are written in the same way, as a serializer writes those of one class."""
    if isinstance(found, dict):
        parts = {key: values_of(inner, alike=alike) for key, inner in found.items()}
        return st.fixed_dictionaries(parts) if alike else st.fixed_dictionaries({}, optional=parts)
    if isinstance(found, list):
        least = 1 if alike and isinstance(found[0], dict) else 0
        return st.lists(values_of(found[0], alike=alike), min_size=least, max_size=3)
    return SCALARS[found] if alike else st.none() | SCALARS[found]


@given(st.data(), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_lists_of_structs_hold_every_value_and_give_it_back(data: st.DataObject, declared: bool, alike: bool) -> None:
    kinds = data.draw(kinds_with_objects())
    values = data.draw(st.lists(values_of(kinds, alike=alike), min_size=1, max_size=5))
    style = data.draw(st.sampled_from(STYLES[:2])) | ({"sort_keys": True} if alike else {})
    rows = written(values, style)
    layout = layout_of(kinds)
    codec = bind(WRITER, layout, declared=declared)
    decoded = codec.decode(binary(rows))
    assert (decoded.errors.reasons, decoded.unknown) == ([], {})
    for shown, value in zip(decoded.columns.to_pylist(), values, strict=True):
        for column in layout.columns:
            check(column, shown[column.name], value.get(column.keys[0]))
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}
    if alike:
        assert decoded.exact.all()


def test_objects_of_one_form_have_one_shape_however_many_there_are() -> None:
    rows = [
        json.dumps({"id": n, "items": [{"sku": f"s{k}", "price": k / 4} for k in range(n % 5)]}).encode()
        for n in range(200)
    ]
    codec = codec_of(ITEMS)
    decoded = codec.decode(binary(rows))
    assert len(codec.shapes) == 2, "before it was seen what stands between two of them, and after"
    assert decoded.columns.column("items")[7].as_py() == [{"sku": "s0", "price": 0.0}, {"sku": "s1", "price": 0.25}]
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_rows_without_an_array_have_one_shape_before_and_after_the_first_array() -> None:
    batches = [[b'{"id":1}'], [b'{"id":2,"items":[{"sku":"a"}]}', b'{"id":3}'], [b'{"id":4}', b'{"items":[]}']]
    codec = codec_of(ITEMS)
    decoded = [codec.decode(binary(rows)) for rows in batches]
    assert len(codec.shapes) == len(set(codec.shapes)) == 3
    for rows, one in zip(batches, decoded, strict=True):
        assert replayed(codec, one) == dict(enumerate(rows))


def test_styles_that_are_only_learned_within_an_array_are_used_for_all_of_it() -> None:
    rows = [b'{"items":[{"sku":"a","price":1.5},{"sku":"\\u00e9","price":2},{"sku":"b","price":3}]}']
    codec = codec_of(ITEMS)
    assert replayed(codec, codec.decode(binary(rows))) == dict(enumerate(rows))


def test_objects_that_differ_within_one_array_are_columns_all_the_same_and_keep_their_bytes() -> None:
    rows = [
        b'{"items":[{"sku":"a","price":1.5},{"sku":"b"}]}',
        b'{"items":[{"sku":"a","price":1.5},{"price":2.5,"sku":"b"}]}',
        b'{"items":[{"sku":"a"}, {"sku":"b"},{"sku":"c"}]}',
        b'{"items":[{"sku":"a"},{"sku": "b"}]}',
        b'{"items":[{"sku":"\\/"}]}',
        b'{"items":[{"sku":"a"},null]}',
    ]
    codec = codec_of(ITEMS)
    decoded = codec.decode(binary(rows))
    assert decoded.exact.tolist() == [False, False, False, False, False, True]
    assert [[item and item["sku"] for item in row["items"]] for row in decoded.columns.to_pylist()] == [
        *(["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "b"], ["/"], ["a", None])
    ]
    assert replayed(codec, decoded) == {5: rows[5]}


def test_slices_of_lists_are_read_where_they_begin() -> None:
    item = b'{"sku":"s%d","price":%d.5}'
    rows = [
        b'{"items":[%s],"id":%d}' % (b",".join(item % (k, n) for k in range(n % 3)), n) if n % 4 else b'{"id":null}'
        for n in range(40)
    ]
    codec = codec_of(ITEMS)
    decoded = codec.decode(binary(rows)[5:39])
    assert decoded.shapes is not None
    assert codec.encode(decoded.columns.slice(4, 13), decoded.shapes[4:17]).to_pylist() == rows[9:22]


def test_new_keys_of_the_objects_become_fields_of_their_structs() -> None:
    layout = learned([b'{"o":{"items":[{"sku":"a"}]}}'])
    row = b'{"o":{"items":[{"sku":"a","at":{"x":1},"parts":[{"n":1.5}]},{"sku":"b","at":{"x":2},"parts":[]}]}}'
    decoded = bind(WRITER, layout).decode(binary([row]))
    assert decoded.unknown == {"o": {"items": [{"at": {"x": "long"}, "parts": [{"n": "double"}]}]}}
    assert not decoded.exact.any()
    grown = learned([row], layout)
    before = {column.id: column.kind for top in layout.columns for column in top.walk()}
    after = {column.id: column.kind for top in grown.columns for column in top.walk()}
    assert before.items() < after.items()
    assert learned([row], grown) == grown
    codec = bind(WRITER, grown)
    decoded = codec.decode(binary([row, b'{"o":{"items":[{"sku":"a"}]}}']))
    assert replayed(codec, decoded) == {0: row, 1: b'{"o":{"items":[{"sku":"a"}]}}'}
    assert decoded.columns.to_pylist()[1] == {"o": {"items": [{"sku": "a", "at": None, "parts": None}]}}


def test_a_table_that_has_text_for_such_arrays_keeps_it() -> None:
    row = b'{"items":[{"sku":"a"}]}'
    layout = layout_of({"items": JSON_TEXT})
    assert learned([row], layout) == layout
    assert bind(WRITER, layout).decode(binary([row])).columns.to_pylist() == [{"items": '[{"sku":"a"}]'}]


@pytest.mark.parametrize(
    "array",
    [
        *(b"[{}]", b"[{},{}]", b'[{"a":null}]', b'[{"a":1},[2]]', b'[{"a":1},2]', b'[ {"a":1}]', b'[{"a":1} ,{"a":2}]'),
        *(b'[{"a":1},  {"a":2}]', b'[\n{"a":1}\n]', b"[[]]", b'[[{"a":1}]]'),
    ],
)
def test_arrays_that_a_list_could_not_hold_or_give_back_stay_text(array: bytes) -> None:
    row = b'{"l":%s}' % array
    (column,) = learned([row]).columns
    assert holds_json_text(column)
    assert bind(WRITER, learned([row])).decode(binary([row])).exact.all()


def test_objects_whose_keys_are_data_stay_text() -> None:
    by_id = [json.dumps({"l": [{f"id-{row}-{n}": n} for n in range(5)]}).encode() for row in range(50)]
    (column,) = learned(by_id).columns
    assert holds_json_text(column)
    assert bind(WRITER, learned(by_id)).decode(binary(by_id)).exact.all()


def test_lists_within_each_other_have_a_bound() -> None:
    value: Any = {"x": 1}
    for _ in range(6):
        value = {"l": [value]}
    row = json.dumps(value).encode()
    layout = learned([row])
    assert learned([row], layout) == layout, "not even with time"
    inner, depth = layout.columns[0], 0
    while inner.kind == "list":
        inner, depth = inner.children[0].children[0], depth + 1
    assert (depth, holds_json_text(inner)) == (LISTS_WITHIN_MAX, True)
    codec = bind(WRITER, layout)
    assert replayed(codec, codec.decode(binary([row]))) == {0: row}


def test_more_shapes_than_a_file_may_have_leave_their_rows_their_bytes() -> None:
    keys = [f"k{n}" for n in range(40)]
    rng = random.Random(5)
    rows = [
        json.dumps({"a": [dict.fromkeys(rng.sample(keys, 3), 1)], "b": [{rng.choice(keys): 1}]}).encode()
        for _ in range(3000)
    ]
    kinds: dict[str, Found] = {"a": [dict.fromkeys(keys, "long")], "b": [dict.fromkeys(keys, "long")]}
    codec = codec_of(kinds)
    decoded = codec.decode(binary(rows))
    assert len(codec.shapes) == 1000
    assert 900 < decoded.exact.sum() < 3000
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}


MISFITS = {
    b'{"items":[{"sku":"a"},{"sku":5}]}': "in 'items[1]': field 'sku' (byte 7): a number where string is declared",
    b'{"items":[{"sku":"a","sku":"b"}]}': "in 'items[0]': field 'sku' (byte 10): the key occurs twice",
    b'{"items":[null,{"price":{}}]}': "in 'items[1]': field 'price' (byte 9): an object where double is declared",
    b'{"items":[{"sku":"a"},7]}': "field 'items' (byte 22): a number where object is declared",
    b'{"items":{"sku":"a"}}': "field 'items' (byte 9): an object where array is declared",
    b'{"items":[{"sku":"a"}': "field 'items' (byte 21): ends within the object",
    b'{"items":[{"sku":}]}': "field 'items' (byte 17): a value is due, found '}'",
}


@pytest.mark.parametrize("bad", MISFITS)
def test_what_is_wrong_with_an_object_of_an_array_is_told_by_its_place(bad: bytes) -> None:
    good = b'{"id":1,"items":[{"sku":"a","price":1.5}]}'
    codec = codec_of(ITEMS, declared=True)
    decoded = codec.decode(binary([good, bad, good]))
    assert (decoded.errors.rows, decoded.errors.reasons) == ([1], [MISFITS[bad]])
    assert [row["items"] for row in decoded.columns.to_pylist()] == [
        [{"sku": "a", "price": 1.5}],
        None,
        [{"sku": "a", "price": 1.5}],
    ]
    assert decoded.columns.to_pylist()[1] == {"id": None, "items": None}
    assert replayed(codec, decoded) == {0: good, 2: good}


def test_values_that_are_no_objects_are_null_where_nothing_is_declared() -> None:
    rows = [b'{"items":[1,{"sku":"a"}]}', b'{"items":"x"}', b'{"items":[{"sku":{"a":1}}]}', b'{"items":[[]]}']
    decoded = codec_of(ITEMS).decode(binary(rows))
    assert decoded.errors.rows == []
    assert decoded.columns.column("items").to_pylist() == [
        [None, {"sku": "a", "price": None}],
        None,
        [{"sku": '{"a":1}', "price": None}],
        [None],
    ]
    assert decoded.exact.tolist() == [False, False, True, False]


MUTATED = [
    b'{"id":1,"items":[{"sku":"x","price":1.5},{"sku":"y","price":2.5}]}',
    b'{"items": [{"sku": null}, {"sku": "\\u00e9"}], "id": 2}',
]


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=40, deadline=None)
def test_mutated_rows_are_judged_as_pythons_parser_judges_them(seed: int, declared: bool) -> None:
    rng = random.Random(seed)
    rows = []
    for _ in range(100):
        mutated = bytearray(rng.choice(MUTATED))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(mutated) + 1)
            mutated[at : at + rng.randrange(3)] = rng.choice(PIECES)
        rows.append(bytes(mutated))
    codec = codec_of(ITEMS, declared=declared)
    decoded = codec.decode(binary(rows))
    decoded.columns.validate(full=True)
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}
    reasons = dict(zip(decoded.errors.rows, decoded.errors.reasons, strict=True))
    for number, row in enumerate(rows):
        try:
            json.loads(row)
        except ValueError:
            assert number in reasons, row
        else:
            told = ("declared", "beyond", "twice", "not a JSON object")
            assert number not in reasons or any(word in reasons[number] for word in told), (row, reasons[number])


def test_rules_from_before_there_were_such_lists_leave_them_empty() -> None:
    row = b'{"id":1,"items":[{"sku":"a","price":1.5}]}'
    decoded = bind(replace(WRITER, codec=2), layout_of(ITEMS)).decode(binary([row]))
    assert decoded.columns.to_pylist() == [{"id": 1, "items": None}]
    assert not decoded.exact.any()


def test_shapes_are_taken_apart_as_they_were_put_together() -> None:
    inner = composed("{\x01lj:7\x01}", {7: "{\x01i:8\x01}"})
    template = composed('{"a":\x01lj:5\x01,"b":\x01mj:6\x01}', {5: inner, 6: "{}", 9: "unused"})
    assert decomposed(template) == ('{"a":\x01lj:5\x01,"b":\x01mj:6\x01}', {5: inner, 6: "{}"})
    for damaged in ("{\x02}", "{\x03}", "{\x02{}\x03}", "{\x01lj:5\x01\x02{}"):
        with pytest.raises(ValueError, match="damaged"):
            decomposed(damaged)


def test_every_part_of_such_a_column_has_a_field_id_of_its_own() -> None:
    schema = arrow_schema(layout_of(ITEMS).columns)
    items = schema.field("items")
    element = items.type.value_field
    ids = [field.metadata[b"PARQUET:field_id"] for field in (items, element, *element.type)]
    assert ids == [b"2", b"3", b"4", b"5"]
    assert Layout.from_text(layout_of(ITEMS).to_text()) == layout_of(ITEMS)

"""Members for which a table has no column go into one more column, as JSON."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.json.codec import bind
from lakestream.contract.columns.rest import with_rest

from .samples import WRITER, binary, layout_of, learned, replayed

LAYOUT = with_rest(layout_of({"a": "long", "o": {"x": "long"}, "s": "string"}))
members = st.dictionaries(
    st.sampled_from(["a", "o", "s", "new", "é", "", "n1", "n2"]),
    st.none() | st.integers(-9, 9) | st.text(max_size=3) | st.just({"x": 1}) | st.just([1, {"y": ["]"]}]),
    max_size=7,
)


def shown(rows: list[bytes]) -> list[Any]:
    return list(bind(WRITER, LAYOUT).decode(binary(rows)).columns.column("__rest").to_pylist())


@given(st.lists(members, max_size=8), st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 2}]))
@settings(max_examples=150, deadline=None)
def test_it_holds_all_members_without_a_column_and_no_others(
    values: list[dict[str, Any]], style: dict[str, Any]
) -> None:
    rows = [json.dumps(value, **style).encode() for value in values]
    codec = bind(WRITER, LAYOUT)
    decoded = codec.decode(binary(rows))
    assert (decoded.errors.rows, decoded.unknown) == ([], {})
    for text, value in zip(decoded.columns.column("__rest").to_pylist(), values, strict=True):
        rest = {key: inner for key, inner in value.items() if key not in ("a", "o", "s")}
        assert (rest or None) == (None if text is None else json.loads(text))
    assert replayed(codec, decoded) == {row: rows[row] for row in decoded.exact.nonzero()[0].tolist()}


def test_members_that_stand_together_come_back_from_it() -> None:
    rows = [
        b'{"a":1, "n1": [1, 2],"n2":{}}',
        b'{"n1":1,"a":2}',
        b'{"x":null}',
        b'{ "a":1,"y" : 2 ,"s":"t"}',
        b'{"a":3}',
    ]
    codec = bind(WRITER, LAYOUT)
    decoded = codec.decode(binary(rows))
    assert decoded.columns.column("__rest").to_pylist() == [
        '{"n1": [1, 2],"n2":{}}',
        '{"n1":1}',
        '{"x":null}',
        '{"y" : 2}',
        None,
    ]
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_members_that_are_scattered_are_gathered_and_their_row_keeps_its_bytes() -> None:
    rows = [b'{"n1":1,"a":2,"n2":[3],"s":"x","n3":{}}', b'{"n1":1,"a":2}']
    decoded = bind(WRITER, LAYOUT).decode(binary(rows))
    assert decoded.columns.column("__rest").to_pylist() == ['{"n1":1,"n2":[3],"n3":{}}', '{"n1":1}']
    assert decoded.exact.tolist() == [False, True]


def test_a_row_that_only_looks_as_if_it_had_such_members_is_refused() -> None:
    rows = [
        b'{"a":1,"n":2}',
        b'{"a":1,null}',
        b'{"a":1,5}',
        b'{"a":1,"n"}',
        b'{"a":1,"n":}',
        b'{"a":1,"n":2,}',
        b'{"a":1,"n":2]',
    ]
    decoded = bind(WRITER, LAYOUT).decode(binary(rows))
    assert decoded.errors.rows == [1, 2, 3, 4, 5, 6]
    assert shown(rows) == ['{"n":2}', *[None] * 6]


def test_ten_thousand_keys_of_the_moment_are_cheap_and_all_there() -> None:
    values = [{"row": row} | {f"key-{row}-{n}": n for n in range(10_000)} for row in range(5)]
    rows = [json.dumps(value).encode() for value in values]
    layout = learned(rows)
    assert len(layout.columns) == 501
    assert learned(rows, layout) == layout
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary(rows))
    assert decoded.unknown == {}
    columns = decoded.columns.to_pylist()
    for row, value in enumerate(values):
        own = {key: one for key, one in columns[row].items() if one is not None and key != "__rest"}
        assert own | json.loads(columns[row]["__rest"]) == value
    assert replayed(codec, decoded) == dict(enumerate(rows))
    assert len(codec.shapes) == 2


def test_a_users_own_key_of_that_name_is_a_column_of_its_own() -> None:
    row = b'{"__rest":1,"z":2}'
    layout = with_rest(layout_of({"__rest": "long"}))
    assert [column.name for column in layout.columns] == ["user__rest", "__rest"]
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary([row]))
    assert decoded.columns.to_pylist() == [{"user__rest": 1, "__rest": '{"z":2}'}]
    assert replayed(codec, decoded) == {0: row}

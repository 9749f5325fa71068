"""What was produced comes back, byte for byte, and its columns hold what every JSON parser reads."""

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.columns.json_text import JSON_TEXT

from .samples import binary, codec_of, replayed

KINDS = {"n": "long", "price": "double", "ok": "boolean", "name": "string", "more": JSON_TEXT, "größe": "string"}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
decimals = st.builds(lambda digits, scale: digits / 10**scale, st.integers(-(10**12), 10**12), st.integers(0, 6))
nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "n": st.integers(-(2**63), 2**63 - 1),
    "price": decimals | st.integers(-(10**9), 10**9),
    "ok": st.booleans(),
    "name": texts,
    "more": nested,
    "größe": texts,
}
objects = st.fixed_dictionaries({}, optional={key: st.none() | values for key, values in VALUES.items()})
STYLES: list[dict[str, Any]] = [
    {},
    {"separators": (",", ":")},
    {"separators": (" , ", " : "), "ensure_ascii": False},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"sort_keys": True},
    {"indent": 2},
    {"indent": "\t", "ensure_ascii": False},
]


NEEDLESS = {"1e3", "1E+2", "12345678901234567890", "1.50e-9"}
"""Numbers that no serializer here would write so."""


def shown(value: dict[str, Any]) -> dict[str, Any]:
    """What the columns of an object are."""
    row = {key: value.get(key) for key in KINDS}
    return row | {"price": None if row["price"] is None else float(row["price"])}


def seen(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"more": None if row["more"] is None else json.loads(row["more"])}


@given(st.lists(objects, max_size=12), st.sampled_from(STYLES))
@settings(max_examples=200, deadline=None)
def test_objects_of_a_serializer_come_back_byte_for_byte(values: list[dict[str, Any]], style: dict[str, Any]) -> None:
    """Whole numbers, decimals of up to 15 digits, any text, anything nested; keys missing or null as they like."""
    rows = [json.dumps(value, **style).encode() for value in values]
    codec = codec_of(KINDS)
    decoded = codec.decode(binary(rows))
    assert decoded.errors.rows == []
    assert decoded.unknown == {}
    assert list(map(seen, decoded.columns.to_pylist())) == list(map(shown, values))
    assert replayed(codec, decoded) == dict(enumerate(rows))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
@settings(max_examples=200, deadline=None)
def test_every_double_is_read_as_it_was_meant_and_given_back_as_python_wrote_it(numbers: list[float]) -> None:
    rows = [json.dumps({"price": number}).encode() for number in numbers]
    codec = codec_of({"price": "double"})
    decoded = codec.decode(binary(rows))
    read = decoded.columns.column(0).to_pylist()
    assert [math.copysign(1, one) for one in read] == [math.copysign(1, one) for one in numbers]
    assert read == numbers
    assert replayed(codec, decoded) == dict(enumerate(rows))


@pytest.mark.parametrize(
    "written",
    [
        *("0", "-0", "-0.0", "0.0", "5", "5.0", "5.10", "5.100", "0.001", "-12.5", "1e-7", "1e+21", "0.000001"),
        *("123456789012345680000", "0.1234567890123456", "1e3", "1E+2", "12345678901234567890", "1.50e-9"),
    ],
)
def test_a_number_is_exact_if_and_only_if_it_comes_back(written: str) -> None:
    row = b'{"price":%s}' % written.encode()
    codec = codec_of({"price": "double"})
    decoded = codec.decode(binary([row]))
    assert decoded.columns.column(0).to_pylist() == [float(written)]
    assert bool(decoded.exact[0]) == (written not in NEEDLESS)
    assert replayed(codec, decoded) == ({0: row} if decoded.exact[0] else {})


def test_the_escapes_of_go_and_gson_are_styles_too() -> None:
    text = "<a href='x'>&=\u2028 \u2029 \u2027 é</a>"
    plain = json.dumps({"name": text, "größe": "no such thing"}, ensure_ascii=False)
    go = plain
    for character in "<>&\u2028\u2029":
        go = go.replace(character, f"\\u{ord(character):04x}")
    gson = go.replace("=", "\\u003d").replace("'", "\\u0027")
    rows = [one.encode() for one in (plain, go, gson)]
    assert len(set(rows)) == 3
    codec = codec_of(KINDS)
    decoded = codec.decode(binary(rows))
    assert decoded.columns.column("name").to_pylist() == [text] * 3
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_strings_stay_in_the_style_of_the_row_before_where_they_can() -> None:
    rows = [b'{"name":"%s"}' % text for text in (b"a\\u0026b", b"plain", b"a\\u003cb", b"", b"x")]
    codec = codec_of({"name": "string"})
    assert codec.decode(binary(rows)).exact.all()
    assert codec.shapes == ['{"name":\x01h:1\x01}']


def test_money_with_two_decimals_soon_has_one_shape() -> None:
    rng = random.Random(5)
    rows = [b'{"a":%.2f,"b":%.2f}' % (rng.random() * 100, rng.random() * 9) for _ in range(1000)]
    codec = codec_of({"a": "double", "b": "double"})
    decoded = codec.decode(binary(rows))
    assert decoded.exact.all()
    assert len(codec.shapes) <= 4
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_nulls_make_no_shapes_and_missing_keys_do() -> None:
    keys = [f"k{n}" for n in range(6)]
    rng = random.Random(6)
    with_nulls = [json.dumps({key: rng.choice([None, 1]) for key in keys}).encode() for _ in range(500)]
    codec = codec_of(dict.fromkeys(keys, "long"))
    assert codec.decode(binary(with_nulls)).exact.all()
    assert len(codec.shapes) == 1
    missing = [json.dumps({key: 1 for key in keys if rng.random() < 0.5}).encode() for _ in range(500)]
    decoded = codec.decode(binary(missing))
    assert decoded.exact.all()
    assert 50 < len(codec.shapes) <= 1 + 2**6
    assert replayed(codec, decoded) == dict(enumerate(missing))


def test_shapes_have_a_bound_and_rows_beyond_it_keep_their_bytes() -> None:
    keys = [f"k{n}" for n in range(12)]
    rng = random.Random(7)
    objects = [{key: n for n, key in enumerate(keys) if rng.random() < 0.5} for _ in range(3000)]
    rows = [json.dumps(one).encode() for one in objects]
    codec = codec_of(dict.fromkeys(keys, "long"))
    decoded = codec.decode(binary(rows))
    assert len(codec.shapes) == 1000
    assert decoded.errors.rows == []
    assert 1000 <= decoded.exact.sum() < 3000
    assert decoded.columns.to_pylist() == [{key: one.get(key) for key in keys} for one in objects]
    assert replayed(codec, decoded) == {row: rows[row] for row in range(3000) if decoded.exact[row]}


def test_shapes_go_on_from_batch_to_batch() -> None:
    codec = codec_of({"a": "long", "b": "string"})
    first = codec.decode(binary([b'{"a":1,"b":"x"}']))
    second = codec.decode(binary([b'{"b":"y"}', b'{"a":2,"b":"z"}']))
    assert first.shapes is not None and second.shapes is not None
    assert (first.shapes.tolist(), second.shapes.tolist()) == ([0], [1, 0])


def test_slices_of_arrays_are_read_where_they_begin() -> None:
    rows = [b'{"a":%d,"t":%s,"s":"v%d"}' % (n, b"true" if n % 3 else b"null", n) for n in range(30)]
    codec = codec_of({"a": "long", "t": "boolean", "s": "string"})
    decoded = codec.decode(binary(rows)[7:29])
    assert decoded.columns.column(0).to_pylist() == list(range(7, 29))
    assert decoded.shapes is not None
    encoded = codec.encode(decoded.columns.slice(3, 11), decoded.shapes[3:14])
    assert encoded.to_pylist() == rows[10:21]


def test_nothing_decodes_to_nothing() -> None:
    codec = codec_of({"a": "long"})
    decoded = codec.decode(binary([]))
    assert decoded.columns.num_rows == 0
    assert codec.encode(decoded.columns, decoded.shapes).to_pylist() == []

"""Bytes that are no JSON, or not as it should be: the row says why, its neighbours are right, nothing crashes."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.columns.json_text import JSON_TEXT

from .samples import binary, codec_of, replayed

KINDS = {"n": "long", "price": "double", "ok": "boolean", "name": "string", "more": JSON_TEXT}
GOOD = [b'{"n":1,"price":2.5,"ok":true,"name":"x","more":[1]}', b'{"n": -7, "name": "\\u00e9", "more": {"a": "b"}}']

BROKEN = {
    b"": "byte 0: the value is empty, not a JSON object",
    b"  ": "byte 2: the value is empty, not a JSON object",
    b"[1]": "byte 0: not a JSON object: it begins with '['",
    b"\x00\x00": "byte 0: not a JSON object: it begins with '\\x00'",
    b"{": "byte 1: ends within the object",
    b'{"n"': "byte 4: ends within the object",
    b'{"n":': "byte 5: ends within the object",
    b'{"n":1': "byte 6: ends within the object",
    b'{"n":1,': "byte 7: ends within the object",
    b'{"n":1,}': "byte 7: a key in double quotes is due, found '}'",
    b"{n:1}": "byte 1: a key in double quotes is due, found 'n'",
    b'{"n" 1}': "byte 5: a colon is due after the key, found '1'",
    b'{"n":1 "ok":true}': "byte 7: a comma or a closing bracket is due, found '\"'",
    b'{"n":1}x': "byte 7: goes on after the object with 'x'",
    b'{"n":}': "field 'n' (byte 5): a value is due, found '}'",
    b'{"n":01}': "field 'n' (byte 5): a number begins with a needless zero",
    b'{"n":-}': "field 'n' (byte 5): a number is not written as in JSON",
    b'{"price":1.}': "field 'price' (byte 9): a number is not written as in JSON",
    b'{"price":1e}': "field 'price' (byte 9): a number is not written as in JSON",
    b'{"price":.5}': "field 'price' (byte 9): a value is due, found '.'",
    b'{"price":NaN}': "field 'price' (byte 9): only true, false and null are words in JSON, found 'N'",
    b'{"ok":tru}': "field 'ok' (byte 6): only true, false and null are words in JSON, found 't'",
    b'{"ok":nul': "field 'ok' (byte 6): only true, false and null are words in JSON, found 'n'",
    b'{"name":"x}': "field 'name' (byte 11): a string does not end",
    b'{"name":"a\nb"}': "field 'name' (byte 10): a control character ('\\n') stands in a string: write it as an escape",
    b'{"name":"a\\x"}': "field 'name' (byte 10): a backslash begins no escape that JSON has",
    b'{"name":"\\u12g4"}': "field 'name' (byte 9): a backslash begins no escape that JSON has",
    b'{"name":"\xc3("}': "field 'name' (byte 9): a string is not UTF-8",
    b'{"name":"\xed\xa0\x80"}': "field 'name' (byte 9): a string is not UTF-8",
    b'{"n":1,"n":2}': "field 'n' (byte 6): the key occurs twice",
    b'{"n":1,"\\u006e":2}': "field 'n' (byte 6): the key occurs twice",
    b'{"new":1,"new":2}': "byte 10: the key occurs twice",
    b'{"\\ud800":1}': "byte 2: a key has half a surrogate pair: no column can be called so",
    b'{"more":[1,]}': "field 'more' (byte 11): a value is due, found ']'",
    b'{"more":{"a":1,}}': "field 'more' (byte 15): a key in double quotes is due, found '}'",
    b'{"more":[1}': "field 'more' (byte 10): a comma or a closing bracket is due, found '}'",
    b'{"more":' + b"[" * 65 + b"]" * 65 + b"}": "field 'more' (byte 72): nested deeper than 64 levels",
}


@pytest.mark.parametrize("bad", BROKEN)
def test_a_broken_row_says_why_and_its_neighbours_are_right(bad: bytes) -> None:
    codec = codec_of(KINDS)
    decoded = codec.decode(binary([GOOD[0], bad, GOOD[1]]))
    assert (decoded.errors.rows, decoded.errors.reasons) == ([1], [BROKEN[bad]])
    before, broken, after = decoded.columns.to_pylist()
    assert before == {"n": 1, "price": 2.5, "ok": True, "name": "x", "more": "[1]"}
    assert set(broken.values()) == {None}
    assert after == {"n": -7, "price": None, "ok": None, "name": "é", "more": '{"a": "b"}'}
    assert decoded.exact.tolist() == [True, False, True]
    assert decoded.unknown == {}
    assert replayed(codec, decoded) == {0: GOOD[0], 2: GOOD[1]}


MISFITS = {
    b'{"n":"1"}': "field 'n' (byte 5): a string where long is declared",
    b'{"n":1.5}': "field 'n' (byte 5): a number where long is declared",
    b'{"n":9223372036854775808}': "field 'n' (byte 5): the number is beyond what long holds",
    b'{"price":"1"}': "field 'price' (byte 9): a string where double is declared",
    b'{"price":1e999}': "field 'price' (byte 9): the number is beyond what double holds",
    b'{"ok":1}': "field 'ok' (byte 6): a number where boolean is declared",
    b'{"name":{}}': "field 'name' (byte 8): an object where string is declared",
    b'{"name":"\\ud83d"}': "field 'name' (byte 8): half a surrogate pair cannot be stored as text",
}


@pytest.mark.parametrize("row", MISFITS)
def test_a_value_of_another_type_is_an_error_where_types_are_declared(row: bytes) -> None:
    decoded = codec_of(KINDS, declared=True).decode(binary([row, GOOD[0]]))
    assert decoded.errors.reasons == [MISFITS[row]]
    assert decoded.exact.tolist() == [False, True]


@pytest.mark.parametrize("row", [row for row in MISFITS if row != b'{"name":{}}'])
def test_a_value_of_another_type_is_null_and_keeps_its_bytes_where_types_were_inferred(row: bytes) -> None:
    decoded = codec_of(KINDS).decode(binary([row, GOOD[0]]))
    assert decoded.errors.rows == []
    assert set(decoded.columns.to_pylist()[0].values()) == {None}
    assert decoded.exact.tolist() == [False, True]


def test_a_string_column_takes_other_values_as_their_json() -> None:
    rows = [b'{"name":"5"}', b'{"name":5}', b'{"name": [1, {"a": null}]}', b'{"name":true}', b'{"name":null}']
    codec = codec_of({"name": "string"})
    decoded = codec.decode(binary(rows))
    assert decoded.columns.column(0).to_pylist() == ["5", "5", '[1, {"a": null}]', "true", None]
    assert replayed(codec, decoded) == dict(enumerate(rows))


def test_ten_thousand_keys_of_the_moment_are_bounded() -> None:
    rows = [json.dumps({f"key-{row}-{n}": n for n in range(10_000)} | {"n": row}).encode() for row in range(3)]
    codec = codec_of({"n": "long"})
    decoded = codec.decode(binary(rows))
    assert decoded.errors.rows == []
    assert decoded.columns.column(0).to_pylist() == [0, 1, 2]
    assert len(decoded.unknown) == 1_000
    assert not decoded.exact.any()
    assert codec.shapes == []


def loaded(row: bytes) -> Any:
    """By Python's parser, which is kinder: it takes numbers that are none, and keys that come twice."""

    def no_number(text: str) -> None:
        raise ValueError(text)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs)

    return json.loads(row.decode(), parse_constant=no_number, object_pairs_hook=once)


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60, deadline=None)
def test_mutated_rows_are_judged_as_pythons_parser_judges_them(seed: int, declared: bool) -> None:
    rng = random.Random(seed)
    pieces = [
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b",",
        b":",
        b"\\u",
        b"\xc3",
        b"\x00",
        b"9",
        b"e",
        b"-",
        b".",
        b" ",
        b"null",
    ]
    rows = []
    for _ in range(200):
        mutated = bytearray(rng.choice(GOOD))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(mutated) + 1)
            mutated[at : at + rng.randrange(3)] = rng.choice([*pieces, bytes([rng.randrange(256)])])
        rows.append(bytes(mutated))
    codec = codec_of(KINDS, declared=declared)
    decoded = codec.decode(binary(rows))
    assert replayed(codec, decoded) == {row: rows[row] for row in range(len(rows)) if decoded.exact[row]}
    reasons = dict(zip(decoded.errors.rows, decoded.errors.reasons, strict=True))
    for number, row in enumerate(rows):
        try:
            value = loaded(row)
        except (ValueError, UnicodeDecodeError):
            assert number in reasons, row
            continue
        if number in reasons:
            ours_alone = ("declared", "beyond", "surrogate", "twice", "not a JSON object", "needless")
            assert any(word in reasons[number] for word in ours_alone), (row, reasons[number])
        elif decoded.exact[number]:
            columns = decoded.columns.slice(number, 1).to_pylist()[0]
            assert columns["n"] == value.get("n")
            assert columns["price"] == value.get("price")
            assert columns["ok"] == value.get("ok")


def test_damaged_shapes_are_refused() -> None:
    codec = codec_of({"n": "long"})
    for damaged in ("{\x01i:1", "{\x01i:9\x01}", "{\x01s:1\x01}", "{\x01zz:1\x01}", "{\x01i:x\x01}"):
        with pytest.raises(ValueError, match="shape"):
            codec.shapes = [damaged]
    decoded = codec.decode(binary([b'{"n":1}']))
    assert decoded.shapes is not None
    with pytest.raises(ValueError, match="shape"):
        codec.encode(decoded.columns, decoded.shapes + 1)

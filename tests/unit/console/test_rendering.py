"""Numbers, times and bytes as the console shows them."""

import pytest

from lakestream.console.charts import bar, sparkline
from lakestream.console.rendering import (
    shown_diff,
    shown_hex,
    shown_rate,
    shown_seconds,
    shown_size,
    shown_text,
    shown_time,
)
from lakestream.protocol.rest.topics.records import decoded_text


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (shown_size(1536), "1.5 KiB"),
        (shown_size(None), "–"),
        (shown_rate(0.25), "0.2"),
        (shown_rate(12345.6), "12,346"),
        (shown_seconds(90), "1.5 min"),
        (shown_time(0), "1970-01-01 00:00:00.000Z"),
        (shown_time(-1), "–"),
        (shown_time(10**17), "100000000000000000 ms"),
        (shown_text(None), "null"),
        (shown_text(b"\xff\x00"), "base64 /wA="),
        (shown_text("é".encode()), "é"),
        (shown_hex(b"ab\x00"), "0000  61 62 00                                         ab."),
        (
            decoded_text({"n": float("nan"), "b": b"\x01", "deep": [float("inf")]}),
            '{"n": "nan", "b": "AQ==", "deep": ["inf"]}',
        ),
    ],
)
def test_values_are_shown_for_people(shown: str, expected: str) -> None:
    assert shown == expected


def test_a_long_value_is_cut_between_characters_and_says_how_long_it_is() -> None:
    assert shown_text("é".encode() * 5000).endswith(f"{'é' * 3} … (10,000 bytes)")


def test_schemas_are_compared_in_one_layout() -> None:
    assert shown_diff('{"a":1,"b":2}', '{"a": 1}') == [" {", '-  "a": 1', '+  "a": 1,', '+  "b": 2', " }"]
    assert shown_diff("{}", None) == []


def test_pictures_escape_their_labels_and_bear_no_data() -> None:
    assert 'aria-label="&lt;b&gt;"' in sparkline([], "<b>")
    assert sparkline([0, 0, 0], "flat").count(",") > 3
    assert 'width="100.0"' in bar(5, 2, "more than all") and 'width="0.0"' in bar(1, 0, "nothing")

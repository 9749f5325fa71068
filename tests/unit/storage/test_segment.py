"""The segment format: what is written is read back, and damage is noticed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.model.errors import MalformedSegment
from lakestream.storage.wal.segment import (
    Receipt,
    SegmentEntry,
    SegmentFooter,
    decode_footer,
    encode_footer,
    footer_bytes,
    segment_key,
    segment_of_key,
)

ULID = "01J8ZQ4T5V6W7X8Y9Z0ABCDEFG"
numbers = st.integers(0, 2**62)
entries = st.builds(
    SegmentEntry, st.binary(min_size=16, max_size=16), numbers, numbers, numbers, numbers, st.integers(-1)
)
receipts = st.builds(
    Receipt, st.just(ULID), st.binary(min_size=16, max_size=16), numbers, numbers, numbers, numbers, numbers, numbers
)
footers = st.builds(
    SegmentFooter,
    cluster_id=st.text(max_size=22),
    broker_id=st.integers(0, 2**31),
    segment=st.just(ULID),
    created_ms=numbers,
    entries=st.lists(entries.filter(lambda e: e.max_timestamp_ms < 2**62), max_size=5).map(tuple),
    receipts=st.lists(receipts, max_size=5).map(tuple),
)


@given(footers, st.binary(max_size=100))
def test_a_footer_is_read_back_from_the_end_of_an_object(footer: SegmentFooter, before: bytes) -> None:
    written = encode_footer(footer)
    assert decode_footer(before + written) == footer
    assert footer_bytes(before + written) == len(written)


@given(footers, st.data())
def test_a_damaged_footer_is_noticed(footer: SegmentFooter, data: st.DataObject) -> None:
    written = bytearray(encode_footer(footer))
    position = data.draw(st.integers(0, len(written) - 1))
    written[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(MalformedSegment):
        decode_footer(bytes(written))


@given(footers, st.data())
def test_a_cut_footer_is_noticed(footer: SegmentFooter, data: st.DataObject) -> None:
    written = encode_footer(footer)
    with pytest.raises(MalformedSegment):
        decode_footer(written[: data.draw(st.integers(0, len(written) - 1))])


def test_keys_name_segments_and_nothing_else_does() -> None:
    assert segment_of_key(segment_key(ULID)) == ULID
    assert segment_of_key(f"wal/{ULID}.lsg") is None
    assert segment_of_key("wal/FG/readme.txt") is None


def test_segments_of_version_1_stay_readable() -> None:
    golden = Path(__file__).parents[2] / "golden" / "segment"
    footer = decode_footer((golden / "v1.lsg").read_bytes())
    expected = json.loads((golden / "v1.json").read_text())
    assert footer.cluster_id == expected["cluster_id"]
    assert footer.segment == expected["segment"]
    assert [[e.topic_id.hex(), *e[1:]] for e in footer.entries] == expected["entries"]
    assert [[r.segment, r.topic_id.hex(), *r[2:]] for r in footer.receipts] == expected["receipts"]

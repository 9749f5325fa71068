"""However a text grew and whatever its end, the result is one gzip member of exactly that text."""

import gzip
import random
import zlib

from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog.files.growing_gzip import GrowingGzip

TEXTS = st.lists(st.binary(max_size=200) | st.binary(max_size=4).map(lambda piece: piece * 1000), max_size=6)


def unpacked(pieces: list[bytes]) -> bytes:
    """By a reader that stops after the first member, as some do; Python's own goes on to others."""
    reader = zlib.decompressobj(31)
    text = reader.decompress(b"".join(pieces))
    assert reader.eof and not reader.unused_data
    assert gzip.decompress(b"".join(pieces)) == text
    return text


@given(texts=TEXTS, ends=TEXTS)
def test_all_that_grew_is_there_with_each_end(texts: list[bytes], ends: list[bytes]) -> None:
    growing, grown = GrowingGzip(), b""
    for text in texts:
        growing.grow(text)
        grown += text
        for end in ends:
            assert unpacked(growing.with_end(end)) == grown + end
    assert unpacked(growing.with_end(b"")) == grown


def test_ends_of_any_length_are_stored() -> None:
    growing, chance = GrowingGzip(), random.Random(7)
    growing.grow(b"head")
    for length in (0, 1, 65_534, 65_535, 65_536, 131_070, 131_071):
        end = chance.randbytes(length)
        assert unpacked(growing.with_end(end)) == b"head" + end


def test_an_end_leaves_what_grew_as_it_was() -> None:
    growing = GrowingGzip()
    growing.grow(b"abc")
    first = growing.with_end(b"x" * 100_000)
    assert growing.with_end(b"x" * 100_000) == first


def test_what_repeats_is_packed_also_where_it_grew_bit_by_bit() -> None:
    growing = GrowingGzip()
    for number in range(200):
        growing.grow(b'{"snapshot-id":%d,"summary":{"operation":"append","added-data-files":"5"}},' % number)
    assert len(growing) < 200 * 40

"""Codecs: what every client writes is read, what we write every client reads, and nothing grows past its bound."""

import contextlib
import gzip
import tracemalloc
from collections.abc import Callable

import aiokafka.codec
import cramjam
import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.storage.records.compression import (
    GZIP_MEMBERS_MAX,
    XERIAL_BLOCKS_MAX,
    XERIAL_HEADER,
    compress,
    decompress,
    known_codec,
    lz4_blocks_are_linked,
)
from lakestream.storage.records.errors import BatchTooLarge, InvalidRecord, UnsupportedCompression
from lakestream.storage.records.frames import BLOCKS_MAX, lz4_bytes_most, zstd_bytes_most
from lakestream.storage.records.header import Codec

BYTES_MAX = 8 << 20
COMPRESSING = [codec for codec in Codec if codec is not Codec.NONE]
PLAIN = b"".join(b"record %d of many, " % i for i in range(20_000))


def zstd_without_size(data: bytes) -> bytes:
    """As Java and librdkafka write it: streamed, so the frame does not know how long it will be."""
    stream = cramjam.zstd.Compressor(level=3)
    stream.compress(data)
    return bytes(stream.finish())


WRITTEN_BY_OTHERS: dict[str, tuple[Codec, Callable[[bytes], bytes]]] = {
    "gzip": (Codec.GZIP, gzip.compress),
    "gzip, aiokafka": (Codec.GZIP, aiokafka.codec.gzip_encode),
    "snappy, raw as librdkafka": (Codec.SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "snappy, xerial": (Codec.SNAPPY, aiokafka.codec.snappy_encode),
    "lz4, 64 KiB blocks": (Codec.LZ4, lambda data: lz4.frame.compress(data, block_linked=False, store_size=False)),
    "lz4, 4 MiB blocks": (Codec.LZ4, lambda data: lz4.frame.compress(data, block_size=7, content_checksum=True)),
    "lz4, stored blocks": (Codec.LZ4, lambda data: lz4.frame.compress(data, compression_level=-1000)),
    "lz4, aiokafka": (Codec.LZ4, aiokafka.codec.lz4_encode),
    "zstd, no content size": (Codec.ZSTD, zstd_without_size),
    "zstd, content size": (Codec.ZSTD, lambda data: bytes(cramjam.zstd.compress(data, level=3))),
}


@given(data=st.binary(max_size=2000), repeat=st.integers(1, 300), codec=st.sampled_from(Codec))
def test_what_was_compressed_comes_back(data: bytes, repeat: int, codec: Codec) -> None:
    plain = data * repeat
    packed = bytes(compress(codec, plain))
    assert bytes(decompress(codec, packed, bytes_max=len(plain))) == plain
    assert bytes(decompress(codec, memoryview(bytearray(packed)), bytes_max=len(plain))) == plain


@pytest.mark.parametrize("name", WRITTEN_BY_OTHERS)
@pytest.mark.parametrize("plain", [PLAIN, b"x", bytes(3 << 20)], ids=["text", "a byte", "zeros"])
def test_what_others_write_is_read(name: str, plain: bytes) -> None:
    codec, write = WRITTEN_BY_OTHERS[name]
    packed = write(plain)
    assert bytes(decompress(codec, packed, bytes_max=len(plain))) == plain
    with pytest.raises(BatchTooLarge):
        decompress(codec, packed, bytes_max=len(plain) - 1)


def test_what_we_write_others_read() -> None:
    assert gzip.decompress(compress(Codec.GZIP, PLAIN)) == PLAIN
    assert aiokafka.codec.snappy_decode(compress(Codec.SNAPPY, PLAIN)) == PLAIN
    assert lz4.frame.decompress(compress(Codec.LZ4, PLAIN)) == PLAIN
    assert aiokafka.codec.zstd_decode(bytes(compress(Codec.ZSTD, PLAIN))) == PLAIN


def test_lz4_is_written_with_independent_blocks_because_java_reads_no_others() -> None:
    packed = compress(Codec.LZ4, PLAIN)
    assert lz4.frame.get_frame_info(bytes(packed))["block_linked"] is False
    assert not lz4_blocks_are_linked(packed)
    assert lz4_blocks_are_linked(lz4.frame.compress(PLAIN, block_linked=True))


@pytest.mark.parametrize("name", [name for name in WRITTEN_BY_OTHERS if not name.startswith("snappy, raw")])
def test_several_frames_in_a_row_are_one_stream(name: str) -> None:
    codec, write = WRITTEN_BY_OTHERS[name]
    packed = write(PLAIN) + write(b"and more")
    assert bytes(decompress(codec, packed, bytes_max=BYTES_MAX)) == PLAIN + b"and more"


BOMBS = {
    "gzip": (Codec.GZIP, lambda: gzip.compress(bytes(32 << 20), 1)),
    "gzip, members": (Codec.GZIP, lambda: gzip.compress(bytes(1 << 20), 9) * GZIP_MEMBERS_MAX),
    "snappy, raw": (Codec.SNAPPY, lambda: bytes(cramjam.snappy.compress_raw(bytes(32 << 20)))),
    "snappy, claimed": (Codec.SNAPPY, lambda: b"\xff\xff\xff\xff\x0f" + b"x" * 100),
    "snappy, xerial": (Codec.SNAPPY, lambda: aiokafka.codec.snappy_encode(bytes(32 << 20))),
    "lz4": (Codec.LZ4, lambda: lz4.frame.compress(bytes(32 << 20), block_size=7)),
    "zstd": (Codec.ZSTD, lambda: bytes(cramjam.zstd.compress(bytes(32 << 20), level=1))),
    "zstd, no content size": (Codec.ZSTD, lambda: zstd_without_size(bytes(32 << 20))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_the_bound(name: str) -> None:
    codec, build = BOMBS[name]
    bomb = build()
    tracemalloc.start()
    try:
        with pytest.raises(BatchTooLarge):
            decompress(codec, bomb, bytes_max=BYTES_MAX)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < BYTES_MAX * 3  # isal doubles its output as it grows: the old and the new half exist for a moment


def test_room_is_taken_for_what_comes_out_not_for_the_bound() -> None:
    small = b"few words " * 10
    assert lz4_bytes_most(compress(Codec.LZ4, small), BYTES_MAX) <= 64 << 10
    assert zstd_bytes_most(zstd_without_size(small), BYTES_MAX) <= 128 << 10


@given(st.binary(max_size=50_000))
def test_the_most_that_a_frame_can_give_is_not_less_than_what_it_gives(data: bytes) -> None:
    assert len(data) <= lz4_bytes_most(lz4.frame.compress(data), BYTES_MAX)
    assert len(data) <= zstd_bytes_most(zstd_without_size(data), BYTES_MAX)


def test_endless_empty_blocks_do_not_keep_python_busy() -> None:
    empty_zstd_blocks = zstd_without_size(b"")[:6] + bytes(3 * 1_000_000)
    assert zstd_bytes_most(empty_zstd_blocks, BYTES_MAX) == BYTES_MAX
    assert BLOCKS_MAX < 1_000_000
    empty_snappy_block = b"\x00\x00\x00\x01\x00"
    with pytest.raises(InvalidRecord, match="too many"):
        decompress(Codec.SNAPPY, XERIAL_HEADER + empty_snappy_block * (XERIAL_BLOCKS_MAX + 1), bytes_max=BYTES_MAX)
    with pytest.raises(InvalidRecord, match="members"):
        decompress(Codec.GZIP, gzip.compress(b"") * (GZIP_MEMBERS_MAX + 1), bytes_max=BYTES_MAX)


@pytest.mark.parametrize("name", WRITTEN_BY_OTHERS)
def test_a_cut_off_or_prolonged_stream_is_refused(name: str) -> None:
    codec, write = WRITTEN_BY_OTHERS[name]
    packed = write(PLAIN)
    for broken in (packed[:-1], packed[: len(packed) // 2], packed[:3], packed + b"\x07trailing"):
        with pytest.raises((InvalidRecord, BatchTooLarge)):
            decompress(codec, broken, bytes_max=BYTES_MAX)


@given(data=st.binary(max_size=300), codec=st.sampled_from(COMPRESSING), start=st.sampled_from([0, 4, 7, 16]))
def test_nonsense_is_refused_or_bounded(data: bytes, codec: Codec, start: int) -> None:
    nonsense = bytes(compress(codec, PLAIN))[:start] + data
    with contextlib.suppress(InvalidRecord, BatchTooLarge):
        assert len(decompress(codec, nonsense, bytes_max=4096)) <= 4096


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_unknown_codec_is_named(number: int) -> None:
    with pytest.raises(UnsupportedCompression, match=f"codec {number}"):
        known_codec(number)

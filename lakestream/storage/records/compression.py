"""Kafka's codecs: bounded decompression of client data, and compression that all clients can read.

    gzip     one member or several                       written by isal
    snappy   a raw block (librdkafka) or xerial framing (Java and others), distinguished by the magic;
             written as xerial
    lz4      the standard frame; written with independent blocks, the only kind that Java reads
    zstd     with or without the content size (Java and librdkafka leave it out)

Decompression never allocates more than `bytes_max`. Where a format does not state the decompressed size, its block
headers give a close upper bound (frames.py). So the output is allocated once, nothing is decompressed twice and nothing
is copied afterwards.

zstd also reserves the window that a frame names, 128 MiB at most (it refuses larger ones). Pages of the window become
real only as output is written, so memory use stays near `bytes_max`.
"""

from collections.abc import Callable
from struct import Struct

import cramjam
import numpy as np
from isal import isal_zlib

from lakestream.storage.records.errors import BatchTooLarge, InvalidRecord, UnsupportedCompression
from lakestream.storage.records.frames import lz4_bytes_most, zstd_bytes_most
from lakestream.storage.records.header import Bytes, Codec

GZIP_MEMBERS_MAX = 64
"""Producers write one member. Each costs a copy of the bytes behind it, so thousands are an attack."""

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
XERIAL_BLOCK_BYTES = 32 * 1024
"""The block size of the xerial library, which its readers are tuned for."""
XERIAL_BLOCKS_MAX = 64 * 1024
"""Enough for 2 GiB in blocks of the usual size. They are listed in Python, so a million empty ones are an attack."""

LZ4_LEVEL = 1
"""cramjam's default is the slow high-compression mode."""
ZSTD_LEVEL = 1
GZIP_LEVEL = 1
_GZIP_FORMAT = 31
"""zlib's `wbits` for a gzip header and trailer around a window of 32 KiB."""

_BLOCK_LENGTH = Struct(">i")
_XERIAL_MAGIC_AS_LENGTH: int = _BLOCK_LENGTH.unpack_from(XERIAL_MAGIC)[0]


def known_codec(number: int) -> Codec:
    if number > Codec.ZSTD:
        raise UnsupportedCompression(f"codec {number} is unknown; use none, gzip, snappy, lz4 or zstd")
    return Codec(number)


def decompress(codec: Codec, data: Bytes, *, bytes_max: int) -> Bytes:
    """The decompressed records of a batch. Raises BatchTooLarge when they take more than `bytes_max`."""
    match codec:
        case Codec.NONE:
            return _within(data, bytes_max)
        case Codec.GZIP:
            return _gunzip(data, bytes_max)
        case Codec.SNAPPY:
            return _unsnappy(memoryview(data), bytes_max)
        case Codec.LZ4:
            return _decompress_frames(cramjam.lz4.decompress_into, data, lz4_bytes_most(data, bytes_max), bytes_max)
        case Codec.ZSTD:
            return _decompress_frames(cramjam.zstd.decompress_into, data, zstd_bytes_most(data, bytes_max), bytes_max)


def compress(codec: Codec, data: Bytes) -> Bytes:
    """Records compressed as they follow a batch header."""
    match codec:
        case Codec.NONE:
            return data
        case Codec.GZIP:
            return _gzip(data)
        case Codec.SNAPPY:
            return _xerial(memoryview(data))
        case Codec.LZ4:
            return _lz4(data)
        case Codec.ZSTD:
            return memoryview(cramjam.zstd.compress(data, level=ZSTD_LEVEL))


def lz4_blocks_are_linked(data: Bytes) -> bool:
    """Whether a frame's blocks refer to earlier ones: Kafka's own reader refuses such frames."""
    return len(data) > 4 and not data[4] & 0x20


def _too_large(bytes_max: int) -> BatchTooLarge:
    return BatchTooLarge(f"the batch decompresses to more than {bytes_max} bytes: send fewer records in a batch")


def _within(data: Bytes, bytes_max: int) -> Bytes:
    if len(data) > bytes_max:
        raise _too_large(bytes_max)
    return data


def _decompress_frames(
    into: Callable[[Bytes, memoryview], int], data: Bytes, bytes_most: int, bytes_max: int
) -> memoryview:
    room = np.empty(bytes_most, np.uint8).data
    try:
        return room[: into(data, room)]
    except cramjam.DecompressionError as error:
        if bytes_most == bytes_max and "whole buffer" in str(error):
            raise _too_large(bytes_max) from error
        raise InvalidRecord(f"the batch does not decompress: {error}") from error


def _gunzip(data: Bytes, bytes_max: int) -> Bytes:
    parts: list[bytes] = []
    left = bytes_max
    for _ in range(GZIP_MEMBERS_MAX):
        member = isal_zlib.decompressobj(_GZIP_FORMAT)
        parts.append(_gunzip_member(member, data, left, bytes_max))
        left -= len(parts[-1])
        data = member.unused_data
        if not data:
            return parts[0] if len(parts) == 1 else b"".join(parts)
    raise InvalidRecord(f"the batch is compressed as more than {GZIP_MEMBERS_MAX} gzip members")


def _gunzip_member(member: isal_zlib.Decompress, data: Bytes, left: int, bytes_max: int) -> bytes:
    try:
        part: bytes = member.decompress(data, left + 1)  # one more than allowed, to detect excess
    except isal_zlib.error as error:  # type: ignore[misc]  # isal's stub calls the class an instance
        raise InvalidRecord(f"the batch does not decompress: {error}") from error
    if len(part) > left:
        raise _too_large(bytes_max)
    if not member.eof:
        raise InvalidRecord("the batch does not decompress: its gzip data ends early")
    return part


def _unsnappy(data: memoryview, bytes_max: int) -> memoryview:
    framed = data[: len(XERIAL_MAGIC)] == XERIAL_MAGIC
    try:
        blocks = _xerial_blocks(data) if framed else [data]
        sizes = [cramjam.snappy.decompress_raw_len(block) for block in blocks]
        if sum(sizes) > bytes_max:
            raise _too_large(bytes_max)
        return _join_snappy(blocks, sizes)
    except cramjam.DecompressionError as error:
        raise InvalidRecord(f"the batch does not decompress: {error}") from error


def _join_snappy(blocks: list[memoryview], sizes: list[int]) -> memoryview:
    room = np.empty(sum(sizes), np.uint8).data
    at = 0
    for block, size in zip(blocks, sizes, strict=True):
        if cramjam.snappy.decompress_raw_into(block, room[at : at + size]) != size:
            raise InvalidRecord("the batch does not decompress: a snappy block is shorter than it says")
        at += size
    return room


def _xerial_blocks(data: memoryview) -> list[memoryview]:
    """The raw blocks of a xerial stream, or of several one after the other."""
    blocks: list[memoryview] = []
    at = len(XERIAL_HEADER)
    while at < len(data):
        if len(data) - at < _BLOCK_LENGTH.size or len(blocks) == XERIAL_BLOCKS_MAX:
            raise InvalidRecord("the batch does not decompress: its snappy blocks are cut off, or too many")
        length: int = _BLOCK_LENGTH.unpack_from(data, at)[0]
        if length == _XERIAL_MAGIC_AS_LENGTH:
            at += len(XERIAL_HEADER)
            continue
        at += _BLOCK_LENGTH.size
        if not 0 < length <= len(data) - at:
            raise InvalidRecord("the batch does not decompress: a snappy block reaches past the end")
        blocks.append(data[at : at + length])
        at += length
    return blocks


def _gzip(data: Bytes) -> bytes:
    stream = isal_zlib.compressobj(GZIP_LEVEL, wbits=_GZIP_FORMAT)
    return b"".join((stream.compress(data), stream.flush()))


def _lz4(data: Bytes) -> memoryview:
    stream = cramjam.lz4.Compressor(level=LZ4_LEVEL, content_checksum=False, block_linked=False)
    stream.compress(bytes(data))  # it takes only bytes, and has no one-shot call with independent blocks
    return memoryview(stream.finish())


def _xerial(data: memoryview) -> bytes:
    parts: list[Bytes] = [XERIAL_HEADER]
    for at in range(0, len(data), XERIAL_BLOCK_BYTES):
        block = memoryview(cramjam.snappy.compress_raw(data[at : at + XERIAL_BLOCK_BYTES]))
        parts += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(parts)

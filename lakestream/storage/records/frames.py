"""Upper bounds of the decompressed size of lz4 and zstd frames, from the headers of their blocks.

lz4 limits a block to the size in the frame header and to 255 times its compressed size; zstd limits one to 128 KiB and
states the size of raw and repeated ones. The bounds are capped at `bytes_max`, and are close enough to allocate the
output once. The decompressor decides whether the bytes are valid: anything that looks wrong here yields `bytes_max`.

    lz4   https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
    zstd  https://datatracker.ietf.org/doc/html/rfc8878#section-3.1
"""

from collections.abc import Iterator
from struct import Struct, error

from lakestream.storage.records.header import Bytes

BLOCKS_MAX = 4096
"""Blocks inspected before settling for `bytes_max`: 256 MiB of the smallest usual lz4 blocks."""

_U32 = Struct("<I")

LZ4_MAGIC = 0x184D2204
LZ4_EXPANSION_MAX = 255
_LZ4_BLOCK_BYTES = {4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20}
_LZ4_STORED = 0x8000_0000

ZSTD_MAGIC = 0xFD2FB528
ZSTD_BLOCK_BYTES_MAX = 128 << 10
_ZSTD_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_ZSTD_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_ZSTD_REPEATED, _ZSTD_COMPRESSED = 1, 2


def lz4_bytes_most(data: Bytes, bytes_max: int) -> int:
    return _bounded_sum(_lz4_blocks(data), bytes_max)


def zstd_bytes_most(data: Bytes, bytes_max: int) -> int:
    return _bounded_sum(_zstd_blocks(data), bytes_max)


def _bounded_sum(blocks: Iterator[int], bytes_max: int) -> int:
    total = 0
    try:
        for seen, size in enumerate(blocks):
            total += size
            if total >= bytes_max or seen == BLOCKS_MAX:
                return bytes_max
    except (error, LookupError):
        return bytes_max
    return total


def _lz4_blocks(data: Bytes) -> Iterator[int]:
    """An upper bound of each block's output, and a 0 for each frame so that empty frames are counted too."""
    at = 0
    while at < len(data):
        _expect(data, at, LZ4_MAGIC)
        flags, block_bytes_max = data[at + 4], _LZ4_BLOCK_BYTES[data[at + 5] >> 4 & 7]
        checksum_bytes = 4 if flags & 0x10 else 0
        at += 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
        yield 0
        while length := _U32.unpack_from(data, at)[0]:
            size = length & ~_LZ4_STORED
            yield size if length & _LZ4_STORED else min(block_bytes_max, size * LZ4_EXPANSION_MAX)
            at += 4 + size + checksum_bytes
        at += 4 + (4 if flags & 0x04 else 0)


def _zstd_blocks(data: Bytes) -> Iterator[int]:
    """An upper bound of each block's output, and a 0 for each frame so that empty frames are counted too."""
    at = 0
    while at < len(data):
        _expect(data, at, ZSTD_MAGIC)
        flags = data[at + 4]
        at = _zstd_first_block(at, flags)
        yield 0
        last = False
        while not last:
            head = data[at] | data[at + 1] << 8 | data[at + 2] << 16
            last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
            yield ZSTD_BLOCK_BYTES_MAX if kind == _ZSTD_COMPRESSED else size
            at += 3 + (1 if kind == _ZSTD_REPEATED else size)
        at += 4 if flags & 0x04 else 0


def _zstd_first_block(at: int, flags: int) -> int:
    single_segment = bool(flags & 0x20)
    content_size_bytes = _ZSTD_CONTENT_SIZE_BYTES[flags >> 6] or single_segment
    return at + 5 + (not single_segment) + _ZSTD_DICTIONARY_ID_BYTES[flags & 3] + content_size_bytes


def _expect(data: Bytes, at: int, magic: int) -> None:
    """Check the magic. Skippable and legacy frames are left to the decompressor."""
    if _U32.unpack_from(data, at)[0] != magic:
        raise LookupError("not the frame that was expected")

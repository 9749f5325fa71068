"""Batches that are small on the wire and huge inside, or that lie about what is inside."""

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import cache

import cramjam
import lz4.frame
from crc32c import crc32c

from tests.integration.kafka.batches import ATTRIBUTES_AT, CRC_AT, GZIP, LZ4, NONE, SNAPPY, ZSTD, batch

MIB = 1024 * 1024
HEADER_BYTES, LENGTH_AT, LAST_DELTA_AT, COUNT_AT = 61, 8, 23, 57
_ZEROS = bytes(16 * MIB)


def with_records(codec: int, records: bytes, *, count: int = 1) -> bytes:
    """A batch with a proper checksum around these compressed records, which it says are `count`."""
    made = bytearray(batch([b"x"])[:HEADER_BYTES])
    struct.pack_into(">i", made, LENGTH_AT, HEADER_BYTES - 12 + len(records))
    struct.pack_into(">h", made, ATTRIBUTES_AT, codec)
    struct.pack_into(">i", made, LAST_DELTA_AT, count - 1)
    struct.pack_into(">i", made, COUNT_AT, count)
    struct.pack_into(">I", made, CRC_AT, crc32c(bytes(made[ATTRIBUTES_AT:]) + records))
    return bytes(made) + records


def gzip_bomb(megabytes: int) -> bytes:
    stream = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join(stream.compress(_ZEROS) for _ in range(megabytes // 16)) + stream.flush()


def lz4_bomb(megabytes: int) -> bytes:
    stream = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX4MB, block_linked=False)
    return stream.begin() + b"".join(stream.compress(_ZEROS) for _ in range(megabytes // 16)) + stream.flush()


def zstd_bomb(megabytes: int) -> bytes:
    stream = cramjam.zstd.Compressor(level=3)
    for _ in range(megabytes // 16):
        stream.compress(_ZEROS)
    return bytes(stream.finish())


def snappy_bomb(megabytes: int) -> bytes:
    """Snappy shrinks to a twentieth at best, so its blow is the size that it states: room for that is taken first."""
    claim, size = b"", megabytes * MIB
    while size >= 0x80:
        claim += bytes([size & 0x7F | 0x80])
        size >>= 7
    return claim + bytes([size]) + bytes(1000)


BOMBS: Mapping[str, tuple[int, Callable[[int], bytes]]] = {
    "gzip": (GZIP, gzip_bomb),
    "snappy": (SNAPPY, snappy_bomb),
    "lz4": (LZ4, lz4_bomb),
    "zstd": (ZSTD, zstd_bomb),
}


@cache
def bomb(codec: str, megabytes: int) -> bytes:
    """A batch that decompresses to so many megabytes, or says so."""
    number, records = BOMBS[codec]
    return with_records(number, records(megabytes))


COMPRESSORS: Mapping[str, tuple[int, Callable[[bytes], bytes]]] = {
    "none": (NONE, bytes),
    "gzip": (GZIP, gzip.compress),
    "snappy": (SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "lz4": (LZ4, lambda data: lz4.frame.compress(data, block_linked=False)),
    "zstd": (ZSTD, lambda data: bytes(cramjam.zstd.compress(data))),
}

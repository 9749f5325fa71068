"""Compression of a topic's table files, as set by Iceberg's own table properties.

    write.parquet.compression-codec    zstd (by default), lz4, snappy, gzip, brotli, uncompressed
    write.parquet.compression-level    of those codecs that have levels

zstd makes the smallest files for its price. lz4 makes larger files and decompresses in less than half of the time,
which suits topics that are replayed often.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lakestream.model.errors import Invalid

CODEC = "write.parquet.compression-codec"
LEVEL = "write.parquet.compression-level"
UNCOMPRESSED = "uncompressed"
_ZSTD = "zstd"
_ZSTD_LEVEL = 1
"""Higher levels cost several times the CPU for files that are a tenth smaller."""
_LEVELS: Mapping[str, range | None] = {
    _ZSTD: range(1, 23),
    "lz4": None,
    "snappy": None,
    "gzip": range(1, 10),
    "brotli": range(12),
    UNCOMPRESSED: None,
}
"""The levels of each codec."""


class UnknownCompression(Invalid):
    """Table properties with an unknown codec, or a level that it does not have. Correct them."""


class FileCompression(NamedTuple):
    codec: str = _ZSTD
    level: int | None = _ZSTD_LEVEL


DEFAULT_COMPRESSION = FileCompression()


def compression_of(properties: Mapping[str, str]) -> FileCompression:
    """The compression that a table's properties set. Raises UnknownCompression."""
    codec = properties.get(CODEC, _ZSTD).lower()
    if codec not in _LEVELS:
        raise UnknownCompression(f"'{CODEC}' is '{codec}', which is none of {', '.join(_LEVELS)}: choose one of these")
    return FileCompression(codec, _level(codec, properties.get(LEVEL)))


def _level(codec: str, text: str | None) -> int | None:
    levels = _LEVELS[codec]
    if levels is None:
        return None
    if text is None:
        return _ZSTD_LEVEL if codec == _ZSTD else None
    if not text.isdecimal() or int(text) not in levels:
        raise UnknownCompression(
            f"'{LEVEL}' is '{text}', and {codec} has levels from {levels[0]} to {levels[-1]}: choose one of these"
        )
    return int(text)

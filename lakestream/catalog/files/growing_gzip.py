"""gzip of a text that grows at its end, and that is wanted again and again with another, short end.

    grow("abc")             packed, and never again
    with_end("de") -> gz    of "abcde"
    grow("f")
    with_end("g")  -> gz    of "abcfg"

Whoever asks for it with an end does not wait for the end to be packed: it is stored as it is, which gzip allows.
"""

import struct
import zlib
from collections.abc import Iterator

_LEVEL = 1
"""Metadata repeats itself so much that higher levels mostly take longer."""
_WINDOW_BITS = 12
_MEMORY_LEVEL = 6
"""A snapshot is much like the one before it, a kilobyte back. With zlib's own 15 and 8 the state takes five times the
memory, for a result of about the same size."""
STATE_BYTES = 48 * 1024
"""What zlib needs for these, by its own description."""
_HEAD = struct.pack("<2sBBIBB", b"\x1f\x8b", zlib.DEFLATED, 0, 0, 0, 255)
"""Of gzip (RFC 1952): no flags, no time, so that the same text is the same bytes, and no word about the system."""
_STORED_BYTES_MAX = 0xFFFF
_SIZE_MODULUS = 1 << 32


class GrowingGzip:
    def __init__(self) -> None:
        # Minus the bits: gzip's head and checksum are written here, since the end is.
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -_WINDOW_BITS, _MEMORY_LEVEL)
        self._packed = _HEAD
        self._checksum = zlib.crc32(b"")
        self._length = 0

    def grow(self, text: bytes) -> None:
        self._packed += self._packer.compress(text) + self._packer.flush(zlib.Z_SYNC_FLUSH)  # ends with a whole byte
        self._checksum = zlib.crc32(text, self._checksum)
        self._length += len(text)

    def with_end(self, end: bytes) -> list[bytes]:
        """All of it, in pieces."""
        checksum = zlib.crc32(end, self._checksum)
        length = (self._length + len(end)) % _SIZE_MODULUS
        return [self._packed, b"".join((*_stored(end), struct.pack("<II", checksum, length)))]

    def __len__(self) -> int:
        """Bytes that are packed so far."""
        return len(self._packed)


def _stored(text: bytes) -> Iterator[bytes]:
    """The last blocks of a deflate stream (RFC 1951, 3.2.4): at least one, since the last says that it is the last."""
    for at in range(0, len(text) or 1, _STORED_BYTES_MAX):
        block = text[at : at + _STORED_BYTES_MAX]
        is_last = at + _STORED_BYTES_MAX >= len(text)
        yield struct.pack("<BHH", is_last, len(block), len(block) ^ _STORED_BYTES_MAX)
        yield block

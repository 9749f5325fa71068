"""The checksum of a batch after a header change, computed from the old checksum without reading the records.

    new = old ^ CRC-32C of the change, begun with an empty register

A checksum computed over stored bytes would declare them correct even if storage has damaged them. A checksum carried
over is right if the old one was right and wrong if it was wrong, so consumers still refuse a damaged batch.

CRCs are linear: the effect of a change depends on the changed bits and on the number of bytes behind them, not on the
values of those bytes. Zeros stand in for them, so that the records are not read.
"""

from crc32c import crc32c

_EMPTY = 0xFFFF_FFFF
"""The seed for an empty register: crc32c inverts the register first and last, which would spoil the linearity."""
_ZEROS = memoryview(bytes(64 * 1024))
"""Few enough to stay in the processor's cache, enough to make a call cheap."""


def carried_crc(crc: int, change: bytes, bytes_behind: int) -> int:
    """The CRC-32C after `change` is XORed into the covered bytes, in front of the last `bytes_behind` bytes."""
    register = crc32c(change, _EMPTY)
    while bytes_behind > len(_ZEROS):
        register = crc32c(_ZEROS, register)
        bytes_behind -= len(_ZEROS)
    carried: int = crc ^ crc32c(_ZEROS[:bytes_behind], register) ^ _EMPTY
    return carried

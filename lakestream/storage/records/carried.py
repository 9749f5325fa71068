"""The checksum of a batch whose header changes: the old one carried over, with all that it knows of the records.

    new = old ^ CRC-32C of the change, begun with an empty register

A checksum made anew over bytes from storage would vouch for them as they are found there, damage and all. Carried over
it is right where the old one was right and wrong where that was wrong, so that consumers still refuse what was damaged.

CRCs are linear: what a change does to one depends on the bits that change and on how many bytes follow, not on which.
Zeros stand in for these, so that the records are not read.
"""

from crc32c import crc32c

_EMPTY = 0xFFFF_FFFF
"""What begins with an empty register: crc32c inverts its own first and last, which would spoil the linearity."""
_ZEROS = memoryview(bytes(64 * 1024))
"""Few enough to stay in the processor's cache, enough to make a call cheap."""


def carried_crc(crc: int, change: bytes, bytes_behind: int) -> int:
    """The CRC-32C once `change` is XORed into what it covers, in front of the last `bytes_behind` bytes."""
    register = crc32c(change, _EMPTY)
    while bytes_behind > len(_ZEROS):
        register = crc32c(_ZEROS, register)
        bytes_behind -= len(_ZEROS)
    carried: int = crc ^ crc32c(_ZEROS[:bytes_behind], register) ^ _EMPTY
    return carried

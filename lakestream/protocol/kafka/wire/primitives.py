"""The small pieces of Kafka's wire format: fixed-size numbers as struct formats, and unsigned varints.

uvarint    7 bits a byte, low bits first, the top bit says that more follow; at most 5 bytes
legacy     lengths are int16 (string) or int32 (bytes, arrays), -1 is null
compact    lengths are uvarints of length + 1, 0 is null (flexible versions, KIP-482)
"""

from lakestream.protocol.kafka.wire.errors import MalformedRequest

FORMATS = {
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "bool": "?",
    "uuid": "16s",
}
"""Fixed-size types, as struct formats (all big-endian)."""

STRING_BYTES_MAX = 0x7FFF
"""Kafka also refuses longer strings in compact form, where the length would fit."""

ELEMENTS_MAX = 100_000
"""Most array elements and tagged fields in one message. An element of two bytes on the wire becomes an object of a
hundred bytes in memory. So the frame's length alone bounds neither the memory that decoding takes nor how long other
connections wait for it. No client asks for so much at once."""

UVARINT_MAX = 0xFFFFFFFF
ONE_BYTE = tuple(bytes((value,)) for value in range(128))


def uvarint(value: int) -> bytes:
    """Encode an unsigned varint."""
    if value < 128:
        return ONE_BYTE[value]
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_uvarint(buffer: memoryview, at: int) -> tuple[int, int]:
    """Decode an unsigned varint: (value, where the next field starts). IndexError past the end of the buffer."""
    value = shift = 0
    while True:
        byte: int = buffer[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 28:
            raise MalformedRequest("a varint of more than five bytes")
    if value > UVARINT_MAX:
        raise MalformedRequest("a varint of more than 32 bits")
    return value, at


def skip_tags(buffer: memoryview, at: int, count: int) -> int:
    """Skip tagged fields that this version does not know (KIP-482). Returns where the next field starts."""
    for _ in range(count):
        _, at = read_uvarint(buffer, at)
        size, at = read_uvarint(buffer, at)
        at += size
        if at > len(buffer):
            raise MalformedRequest("a tagged field longer than the request")
    return at

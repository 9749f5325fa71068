"""Damage: bits flipped, numbers replaced, bytes cut, doubled or moved between requests, lengths that do not fit."""

import struct
from collections.abc import Callable, Sequence
from random import Random

from .fields import with_hostile_values

HEADER_BYTES = 10
INTERESTING = (0, 1, -1, 2, 127, 128, 255, 32_767, -32_768, 65_535, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63))

Damage = Callable[[Random, bytearray, Sequence[bytes]], None]


def damaged_frame(chance: Random, payloads: Sequence[bytes], *, well_formed_share: float) -> bytes:
    """`well_formed_share`: so many are sound and carry hostile values; random damage seldom passes the codec."""
    if chance.random() < well_formed_share:
        well_formed = with_hostile_values(chance, chance.choice(payloads))
        return struct.pack(">i", len(well_formed)) + well_formed
    payload = bytearray(chance.choice(payloads))
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4, 8))):
        chance.choice(_DAMAGES)(chance, payload, payloads)
    return struct.pack(">i", _length(chance, len(payload))) + payload


def _length(chance: Random, length: int) -> int:
    """Nearly always the right one: a wrong one mostly tests the splitting of frames."""
    if chance.random() < 0.97:
        return length
    return chance.choice((0, 9, -1, 2**31 - 1, max(length - 1, 0), length + 1, length * 2, 90 * 1024 * 1024))


def _at(chance: Random, payload: bytearray) -> int:
    """Mostly behind the header: in it, damage leads to one of few ends."""
    first = HEADER_BYTES if len(payload) > HEADER_BYTES and chance.random() < 0.95 else 0
    return chance.randrange(first, len(payload)) if len(payload) > first else 0


def _flip(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    if payload:
        payload[_at(chance, payload)] ^= 1 << chance.randrange(8)


def _replace_number(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    size, at = chance.choice((1, 2, 4, 8)), _at(chance, payload)
    number = chance.choice(INTERESTING) % 256**size
    payload[at : at + size] = number.to_bytes(size, "big")


def _put_varint(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    number, encoded = chance.getrandbits(chance.choice((7, 14, 21, 31, 32, 35, 64, 70))), bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    at = _at(chance, payload)
    payload[at : at + chance.choice((0, 1, len(encoded)))] = encoded


def _cut(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    del payload[_at(chance, payload) :]


def _drop(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    at = _at(chance, payload)
    del payload[at : at + chance.choice((1, 2, 4, 9))]


def _double(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    at = _at(chance, payload)
    payload[at:at] = payload[at : at + chance.choice((1, 4, 16, 64))] * chance.choice((1, 1, 2, 50))


def _splice(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    other, at = bytearray(chance.choice(payloads)), _at(chance, payload)
    payload[at:] = other[_at(chance, other) :]


def _insert(chance: Random, payload: bytearray, payloads: Sequence[bytes]) -> None:
    at = _at(chance, payload)
    payload[at:at] = chance.randbytes(chance.choice((1, 2, 5, 40)))


_DAMAGES: Sequence[Damage] = (
    _flip, _flip, _replace_number, _replace_number, _put_varint, _cut, _drop, _double, _splice, _insert
)  # fmt: skip

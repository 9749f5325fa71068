"""Generates ids: topic ids (16 random bytes), segment ids (ULIDs, sortable by time), tables' uuids and snapshot ids."""

from hashlib import sha256
from uuid import UUID

from lakestream.world.chance import Chance
from lakestream.world.clock import Clock

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_LENGTH = 26
_RANDOM_BITS = 80


class Ids:
    """Makes ids that never repeat. ULIDs of one maker rise strictly, even within a millisecond."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock = clock
        self._chance = chance
        self._last = 0

    def topic_id(self) -> bytes:
        return self._chance.bytes(16)

    def uuid(self) -> str:
        """A random one (version 4), in its usual text form."""
        return str(UUID(bytes=self._chance.bytes(16), version=4))

    def snapshot_id(self) -> int:
        """63 random bits: Iceberg's ids are positive."""
        return int.from_bytes(self._chance.bytes(8), "big") >> 1

    def ulid(self) -> str:
        fresh = (self._clock.wall_ms() << _RANDOM_BITS) | int.from_bytes(self._chance.bytes(10), "big")
        self._last = max(fresh, self._last + 1)
        return _encode(self._last)


def derived_uuid(text: str) -> str:
    """The same uuid for the same text."""
    return str(UUID(bytes=sha256(text.encode()).digest()[:16], version=5))


def ulid_ms(ulid: str) -> int:
    """The time when a ULID was made: milliseconds since 1970, by its maker's clock."""
    value = 0
    for character in ulid:
        value = value * 32 + _CROCKFORD.index(character)
    return value >> _RANDOM_BITS


def is_ulid(text: str) -> bool:
    return len(text) == _ULID_LENGTH and set(_CROCKFORD).issuperset(text)


def _encode(value: int) -> str:
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(5 * (_ULID_LENGTH - 1), -1, -5))

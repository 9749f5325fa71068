"""Credentials: what the store keeps of a user's password. SCRAM's salted keys prove a password and do not reveal it."""

from dataclasses import dataclass, field
from enum import IntEnum

from lakestream.model.errors import Invalid, NotFound

USERNAME_MAX = 255
PASSWORD_MAX = 1_024
ITERATIONS_MIN, ITERATIONS_MAX = 4_096, 16_384
"""Kafka's bounds. Every login computes this many hashes."""
SALT_MAX = 1_024


class Mechanism(IntEnum):
    """By Kafka's numbers, which are also stored."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def wire_name(self) -> str:
        return self.name.replace("_", "-")

    @property
    def hash_name(self) -> str:
        return "sha256" if self is Mechanism.SCRAM_SHA_256 else "sha512"

    @property
    def hash_bytes(self) -> int:
        return 32 if self is Mechanism.SCRAM_SHA_256 else 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    user: str
    mechanism: Mechanism
    iterations: int
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


class InvalidCredential(Invalid):
    """The user name or the password cannot be used."""


class UnknownUser(NotFound):
    """No user has this name and mechanism."""


def check_credential(credential: Credential) -> None:
    """Raises InvalidCredential."""
    check_user(credential.user)
    if not ITERATIONS_MIN <= credential.iterations <= ITERATIONS_MAX:
        raise InvalidCredential(f"iterations must be {ITERATIONS_MIN} to {ITERATIONS_MAX}, not {credential.iterations}")
    if not 0 < len(credential.salt) <= SALT_MAX:
        raise InvalidCredential(f"a salt has 1 to {SALT_MAX} bytes")


def check_user(name: str) -> None:
    """Raises InvalidCredential."""
    if not name or len(name) > USERNAME_MAX or not name.isprintable() or name == "*":
        raise InvalidCredential(f"a user's name has 1 to {USERNAME_MAX} printable characters, and is not '*'")

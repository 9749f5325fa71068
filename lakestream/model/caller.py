"""The caller of a request, for every protocol."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """Written `User:alice`, as Kafka does."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal("User", "ANONYMOUS")
"""A caller that was not asked who it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Facts about the other end of a connection."""

    principal: Principal
    listener: str
    """The name of the listener that accepted the connection."""
    host: str
    port: int

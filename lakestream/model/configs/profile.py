"""A topic's profile: how soon its records are durable, and what that costs."""

from dataclasses import dataclass
from enum import StrEnum

PROFILE = "lakestream.profile"


class Profile(StrEnum):
    """The values of `lakestream.profile`."""

    FAST = "fast"
    """Flushed at once. Small flushes lie in the metadata store until they are moved into objects."""
    DISKLESS = "diskless"
    """Gathered for some time, so that a flush is worth a PUT."""


DEFAULT_PROFILE = Profile.DISKLESS


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushCost:
    """What the flushes of a profile have cost some brokers since they started: PUTs, and bytes through the metadata
    store."""

    profile: str
    puts: int
    put_bytes: int
    inline_flushes: int
    inline_bytes: int
    """They went through the metadata store, and are put once more when they are moved into objects."""

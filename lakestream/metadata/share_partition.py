"""Share groups in the metadata store: who serves a share-partition, and what was delivered of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId


class ShareKey(NamedTuple):
    """A share-partition: one partition as one share group reads it."""

    group: str
    topic: TopicId
    number: int


class SavedShare(NamedTuple):
    """What a broker saves of a share-partition. The store does not read `state`; it tells the other fields to those
    who ask how far the group is."""

    start_offset: int
    """Every record below it is done."""
    done: int
    """How many offsets at or above it are done as well."""
    state: bytes


class ShareClaim(NamedTuple):
    """The result of claiming a share-partition: the epoch of the claim, and what was saved last, if anything."""

    epoch: int
    state: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareClaims:
    """Partitions that do not exist are absent."""

    now_ms: int
    """By the store's clock, which judges locks."""
    claims: Mapping[TopicPartition, ShareClaim]


class ShareSave(NamedTuple):
    epoch: int
    """Of the claim. No two share-partitions ever have the same one, so it names the row."""
    saved: SavedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSaved:
    now_ms: int
    stored: frozenset[int]
    """The epochs that still held. Other brokers have claimed the rest."""


class ShareProgress(NamedTuple):
    """How far a group is in a partition. `start_offset` is None before the first read."""

    start_offset: int | None
    done: int
    next_offset: int
    """The end of the log."""

    @property
    def lag(self) -> int | None:
        """How many offsets are not done, as far as the end of the log."""
        return None if self.start_offset is None else max(self.next_offset - self.start_offset - self.done, 0)

"""What a commit builds on and what it comes to: values between reading, planning (snapshots.py) and apply.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.catalog.manifests.entries import ManifestEntry, ManifestFile
from lakestream.catalog.spec.updates.identity import FIRST_ROW_LINEAGE_VERSION
from lakestream.catalog.spec.values import Json, Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    location: str
    content: bytes
    entries: tuple[ManifestEntry, ...] | None = None
    """What is in it, if it is a manifest."""
    types: tuple[str, ...] = ()
    """Of their partition values."""
    manifests: tuple[ManifestFile, ...] | None = None
    """What is in it, if it is a manifest list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """What a commit builds on, read before it is planned (reading.py)."""

    metadata: Metadata
    lists: Mapping[int, Sequence[ManifestFile]]
    """The manifest lists of the branches' heads, by snapshot id."""
    entries: Mapping[str, Sequence[ManifestEntry]]
    """What is in the manifests to roll, by their location."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPlan:
    """Write `objects`, then commit `updates`."""

    updates: tuple[Json, ...]
    objects: tuple[NewObject, ...]
    heads: Mapping[str, int]
    """Where each branch will be."""


def head_of(metadata: Metadata, ref: str) -> int | None:
    found: int | None = (metadata.get("refs") or {}).get(ref, {}).get("snapshot-id")
    return found


def has_lineage(metadata: Metadata) -> bool:
    return bool(metadata["format-version"] >= FIRST_ROW_LINEAGE_VERSION)

"""Values that pass between reading, planning (snapshots.py) and apply.py: a commit's inputs and its result."""

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
    """Its entries, if it is a manifest."""
    types: tuple[str, ...] = ()
    """The types of the entries' partition values."""
    manifests: tuple[ManifestFile, ...] | None = None
    """Its rows, if it is a manifest list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The inputs of a commit, read before it is planned (reading.py)."""

    metadata: Metadata
    lists: Mapping[int, Sequence[ManifestFile]]
    """The manifest lists of the branches' heads, by snapshot id."""
    entries: Mapping[str, Sequence[ManifestEntry]]
    """The entries of the manifests to roll, by location."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPlan:
    """Write `objects`, then commit `updates`."""

    updates: tuple[Json, ...]
    objects: tuple[NewObject, ...]
    heads: Mapping[str, int]
    """The new head of each branch."""


def head_of(metadata: Metadata, ref: str) -> int | None:
    found: int | None = (metadata.get("refs") or {}).get(ref, {}).get("snapshot-id")
    return found


def has_lineage(metadata: Metadata) -> bool:
    return bool(metadata["format-version"] >= FIRST_ROW_LINEAGE_VERSION)

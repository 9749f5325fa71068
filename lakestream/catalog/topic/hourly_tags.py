"""Hourly tags: the table as it was when an hour began, under a name that every engine can use, for three days.

    the first rows of an hour come  ->  tag `hourly-2026-11-16T04` on what `main` showed at 04:00 UTC
    three days later                ->  our next commit takes the tag away, and expiry its snapshot

The table keeps a fixed number of snapshots (expiry.py), half an hour of a busy table; these tags reach further back. An
hour without rows has no tag: the next tag names the same state. Tags are for looking back. They do not keep data that
retention has promised to delete: it removes them together with the snapshots.
"""

import re
from datetime import UTC, datetime

from lakestream.catalog.commits.lineage import last_rows_ms
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table import LOG_BRANCH

HOUR_MS = 3_600_000
KEPT_MS = 72 * HOUR_MS
_PREFIX = "hourly-"
_NAME = re.compile(r"hourly-\d{4}-\d{2}-\d{2}T\d{2}")
"""All names have the same length, so that the earlier hour is the lesser name."""


def is_hourly(ref: str) -> bool:
    """Whether the ref is one of these tags. Tags of any other name belong to others, and are never removed."""
    return ref.startswith(_PREFIX) and _NAME.fullmatch(ref) is not None


def tag_name(time_ms: int) -> str:
    """The tag's name for the hour of this time."""
    return f"{_PREFIX}{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%dT%H}"


def hourly_tags(metadata: Metadata, *, now_ms: int) -> list[Json]:
    """Updates for a commit of rows made now: old tags are removed, and the hour's own is added if it has none."""
    refs, oldest = metadata.get("refs") or {}, tag_name(now_ms - KEPT_MS)
    gone = [{"action": "remove-snapshot-ref", "ref-name": ref} for ref in refs if is_hourly(ref) and ref < oldest]
    return gone if tag_name(now_ms) in refs else [*gone, *_new_tag(metadata, now_ms)]


def _new_tag(metadata: Metadata, now_ms: int) -> list[Json]:
    hour_ms = now_ms - now_ms % HOUR_MS
    before_ms = last_rows_ms(metadata, (metadata["refs"].get(LOG_BRANCH) or {}).get("snapshot-id"))
    if before_ms is None or before_ms >= hour_ms:
        return []  # nothing to look back at, or not the first of its hour: someone may have dropped the tag
    shown = [entry for entry in metadata.get("snapshot-log") or () if entry["timestamp-ms"] < hour_ms]
    snapshot = by_id(metadata["snapshots"], "snapshot-id", shown[-1]["snapshot-id"]) if shown else None
    if snapshot is None:
        return []
    # Iceberg counts a ref's age from its snapshot, which may be much older than the hour.
    age_ms = KEPT_MS + hour_ms - snapshot["timestamp-ms"]
    tag = {"type": "tag", "snapshot-id": snapshot["snapshot-id"], "max-ref-age-ms": age_ms}
    return [{"action": "set-snapshot-ref", "ref-name": tag_name(hour_ms), **tag}]

"""The ancestors of a branch's head, as far as the table keeps them."""

from collections.abc import Iterator

from lakestream.catalog.commits.summaries import JOB, LAST_ROWS_MS, WATERMARK
from lakestream.catalog.spec.values import Json, Metadata, by_id


def line_of(metadata: Metadata, snapshot_id: int | None) -> Iterator[Json]:
    """A snapshot and its ancestors, newest first."""
    head = None if snapshot_id is None else by_id(metadata["snapshots"], "snapshot-id", snapshot_id)
    if head is None:
        return
    yield head  # mostly enough for the caller, so that an old table's other snapshots are not scanned
    snapshot_id = head.get("parent-snapshot-id")
    snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in metadata["snapshots"]}
    for _ in range(len(snapshots) - 1):
        snapshot = snapshots.get(snapshot_id)
        if snapshot is None:
            return
        yield snapshot
        snapshot_id = snapshot.get("parent-snapshot-id")


def last_rows_ms(metadata: Metadata, snapshot_id: int | None) -> int | None:
    """The time when compaction last brought rows to this snapshot. A removal carries it on from earlier snapshots."""
    for snapshot in line_of(metadata, snapshot_id):
        summary = snapshot.get("summary") or {}
        if JOB in summary:
            return int(snapshot["timestamp-ms"])
        if LAST_ROWS_MS in summary:
            return int(summary[LAST_ROWS_MS])
    return None


def carried_on(metadata: Metadata, snapshot_id: int | None) -> dict[str, str]:
    """What a snapshot without new rows says about those of its ancestors, which may expire: their time, and the
    watermark."""
    last_ms = last_rows_ms(metadata, snapshot_id)
    summaries = (snapshot.get("summary") or {} for snapshot in line_of(metadata, snapshot_id))
    watermark = next((summary[WATERMARK] for summary in summaries if WATERMARK in summary), None)
    said = {LAST_ROWS_MS: None if last_ms is None else str(last_ms), WATERMARK: watermark}
    return {name: value for name, value in said.items() if value is not None}

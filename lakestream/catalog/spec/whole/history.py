"""Checks all snapshots, refs, statistics and logs of a table from elsewhere: each complete, and consistent together.

refs -> snapshots <- current-snapshot-id          sequence numbers <= last-sequence-number          logs in order
"""

from collections.abc import Set as AbstractSet
from itertools import pairwise

from lakestream.catalog.spec.updates.snapshot_shape import check_ref, check_snapshot, check_statistics
from lakestream.catalog.spec.updates.snapshots import NO_SNAPSHOT
from lakestream.catalog.spec.values import Metadata, distinct_ids, listed, optional, wanted, wanted_count
from lakestream.model.table import MAIN_BRANCH
from lakestream.model.table_errors import InvalidTableChange

_CLOCKS_APART_MS = 60_000
"""An entry may be earlier than the one before it by this much, as in Iceberg's own library."""


def check_whole_history(metadata: Metadata) -> None:
    """Raises InvalidTableChange."""
    snapshot_ids = distinct_ids(metadata, "snapshots", "snapshot-id")
    _check_snapshots(metadata)
    _check_refs(metadata, snapshot_ids)
    for kind in ("statistics", "partition-statistics"):
        for file in listed(metadata, kind):
            check_statistics(file, kind)
    for entry in listed(metadata, "snapshot-log"):
        wanted(entry, "snapshot-id", int)
    for entry in listed(metadata, "metadata-log"):
        wanted(entry, "metadata-file", str)
    for log in ("snapshot-log", "metadata-log"):
        _check_order(metadata, log)


def _check_snapshots(metadata: Metadata) -> None:
    version = metadata["format-version"]
    last = wanted_count(metadata, "last-sequence-number") if version > 1 else 0
    for snapshot in listed(metadata, "snapshots"):
        check_snapshot(snapshot, version)
        if snapshot.get("sequence-number", 0) > last:
            raise InvalidTableChange(
                f"snapshot {snapshot['snapshot-id']} has a sequence number above the table's last, which is {last}: "
                "use a later file of the table"
            )


def _check_refs(metadata: Metadata, snapshot_ids: AbstractSet[int]) -> None:
    refs = wanted(metadata, "refs", dict)
    for name, ref in refs.items():
        check_ref(name, ref, snapshot_ids)
    current = optional(metadata, "current-snapshot-id", int)
    if current not in (None, NO_SNAPSHOT) and current not in snapshot_ids:
        raise InvalidTableChange(f"the table has no snapshot {current}, which is to be current: use another file of it")
    if MAIN_BRANCH in refs and refs[MAIN_BRANCH]["snapshot-id"] != current:
        raise InvalidTableChange(
            f"the current snapshot is {current} and not that of main: use another file of the table"
        )


def _check_order(metadata: Metadata, log: str) -> None:
    times = [wanted(entry, "timestamp-ms", int) for entry in listed(metadata, log)]
    if any(later < earlier - _CLOCKS_APART_MS for earlier, later in pairwise([*times, metadata["last-updated-ms"]])):
        raise InvalidTableChange(
            f"'{log}' is not in the order of time, or later than the table: use another file of it"
        )

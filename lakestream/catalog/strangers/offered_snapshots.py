"""Checks snapshots that other engines add to a topic's table, before they take effect.

    add-snapshot  ->  its manifest list is there, where tables are, and names manifests of specs that the table has
                  ->  it was not made in the future: no later snapshot may have an earlier time

Compaction builds on whatever `main` shows. A snapshot that nobody can read would stop it for ever, and with it all
records produced to the topic. So such a snapshot is refused while its maker can still do something about it. Manifests
themselves are not read: that takes one read for each, and their makers have just written them. A time far in the future
would become the time of all commits until then. Hourly tags would stop, and files removed by retention would stay.
"""

from collections.abc import Sequence

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.manifests.entries import spec_of
from lakestream.catalog.manifests.manifests import decode_manifest_list
from lakestream.catalog.spec.values import Json, Metadata, wanted
from lakestream.model.table_errors import DamagedTable, InvalidTableChange

AHEAD_MS_MAX = 3_600_000
"""Engines' clocks may be wrong by this much. Hourly tags and the end of a grace are late by no more."""
_ADDITION = "add-snapshot"


class OfferedSnapshots:
    def __init__(self, objects: TableObjects) -> None:
        self._objects = objects

    async def check(self, changed: Metadata, updates: Sequence[Json], *, now_ms: int) -> None:
        """`changed` is the table after the updates. Raises InvalidTableChange, InvalidLocation."""
        for update in updates:
            if update["action"] == _ADDITION:
                _check_time(update["snapshot"], now_ms)
                await self._check_list(changed, update["snapshot"])

    async def _check_list(self, changed: Metadata, snapshot: Json) -> None:
        location = wanted(snapshot, "manifest-list", str)
        self._objects.key_of(location)  # a topic's files lie in our own store, whatever other tables may do
        try:
            rows = decode_manifest_list(await self._objects.read(location), location)
        except DamagedTable as error:
            raise InvalidTableChange(
                f"snapshot {snapshot['snapshot-id']} has no manifest list that can be read at {location}: "
                "write it before the commit"
            ) from error
        for row in rows:
            self._objects.key_of(wanted(row, "manifest_path", str))
            spec_of(changed, wanted(row, "partition_spec_id", int))


def _check_time(snapshot: Json, now_ms: int) -> None:
    ahead_ms = snapshot["timestamp-ms"] - now_ms
    if ahead_ms > AHEAD_MS_MAX:
        raise InvalidTableChange(
            f"snapshot {snapshot['snapshot-id']} was made {ahead_ms // 1000} s in the future: "
            "set the clock of the engine that made it, then commit again"
        )

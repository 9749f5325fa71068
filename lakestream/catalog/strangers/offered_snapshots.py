"""Snapshots that others add to a topic's table, looked into before they count.

    add-snapshot  ->  its manifest list is there, where tables are, and names manifests of specs that the table has
                  ->  it was not made in the future: no later snapshot may have an earlier time

Compaction goes on from whatever `main` shows. A snapshot that nobody can read would keep it from ever committing again,
and with it everything that is produced to the topic; so it is refused while its maker still can do something about it.
Manifests themselves are not read: that is a read for each, and their makers have just written them. And a time far
ahead would be that of all commits until then, by which hourly tags stop and what retention let go of stays.
"""

from collections.abc import Sequence

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.manifests.entries import spec_of
from lakestream.catalog.manifests.manifests import decode_manifest_list
from lakestream.catalog.spec.values import Json, Metadata, wanted
from lakestream.model.table_errors import DamagedTable, InvalidTableChange

AHEAD_MS_MAX = 3_600_000
"""Clocks of engines may be wrong by so much: hourly tags and the end of a grace are late by no more then."""
_ADDITION = "add-snapshot"


class OfferedSnapshots:
    def __init__(self, objects: TableObjects) -> None:
        self._objects = objects

    async def check(self, changed: Metadata, updates: Sequence[Json], *, now_ms: int) -> None:
        """`changed` is the table with the updates. Raises InvalidTableChange, InvalidLocation."""
        for update in updates:
            if update["action"] == _ADDITION:
                _check_time(update["snapshot"], now_ms)
                await self._check_list(changed, update["snapshot"])

    async def _check_list(self, changed: Metadata, snapshot: Json) -> None:
        location = wanted(snapshot, "manifest-list", str)
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

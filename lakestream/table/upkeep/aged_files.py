"""Which files of `main` are too old for `lakestream.table.retention.ms`: those whose rows are all older.

    files of `main` -> the greatest `__timestamp` that their manifest states   our own files, and most that others wrote
                    -> when the log took their rows                            no such bound, and the log has the rows
                    -> when the object was written                             neither: the rows are at least so old

A file without a bound has no column `__timestamp` (an engine's INSERT, or a rewrite of a table that hides it), or only
rows without a time, or a writer that keeps no bounds. Its rows may be older than the file, if an engine has rewritten
them. Then they stay for longer than asked. Files are immutable, so each is judged once.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.table import MAIN_BRANCH, TablePointer
from lakestream.model.topic import TopicId
from lakestream.storage.tablefile.format.columns import BY_NAME, TIMESTAMP
from lakestream.world.objects.store import ObjectStore

log = structlog.get_logger(__name__)

KEPT_MAX = 200_000
"""Files whose age is remembered. Above it all are judged again, which reads manifests that mostly are in memory."""
_BOUND = struct.Struct("<q")
_TIMESTAMP_ID = BY_NAME[TIMESTAMP].field_id
_MICROS = 1_000


class Aged(NamedTuple):
    gone: frozenset[str]
    next_ms: int | None
    """The time of the newest row of the file that goes next; None if there is none."""


class AgedFiles:
    def __init__(
        self, store: MetadataStore, objects: ObjectStore, locations: TableObjects, commits: TopicCommits
    ) -> None:
        self._store = store
        self._objects = objects
        self._locations = locations
        self._commits = commits
        self._newest: dict[str, int] = {}
        """The time of each file's newest row."""

    async def of_main(self, pointer: TablePointer, topic: TopicId, *, before_ms: int) -> Aged:
        """The files whose rows are all from before this time. Raises DamagedTable."""
        files = await self._commits.described_files(pointer, MAIN_BRANCH, known=self._newest)
        if len(self._newest) > KEPT_MAX:
            self._newest.clear()
        self._newest |= {path: newest for path, file in files.items() if (newest := _newest_ms(file)) is not None}
        await self._judge_without_bound(topic, [path for path in files if path not in self._newest])
        times = {path: self._newest[path] for path in files if path in self._newest}
        return Aged(
            gone=frozenset(path for path, newest in times.items() if newest < before_ms),
            next_ms=min((newest for newest in times.values() if newest >= before_ms), default=None),
        )

    async def _judge_without_bound(self, topic: TopicId, paths: Iterable[str]) -> None:
        unknown = frozenset(paths)
        if not unknown:
            return
        taken = await self._taken_ms(topic)
        for path in sorted(unknown):
            newest = taken[path] if path in taken else await self._written_ms(path)
            if newest is not None:
                self._newest[path] = newest

    async def _taken_ms(self, topic: TopicId) -> Mapping[str, int]:
        """When the log took the last record of each file that it still needs."""
        uses = await self._store.jobs.file_uses(topic)
        return {path: use.last_ms for use in uses for path in (use.file, use.log_file) if path is not None}

    async def _written_ms(self, path: str) -> int | None:
        """None if that cannot be found out: then the file stays."""
        try:
            key = self._locations.key_of(path)
            written = [info.modified_ms async for info in self._objects.list(key) if info.key == key]
        except LakestreamError as error:
            log.warning("the age of a file cannot be found out", file=path, error=str(error))
            return None
        return written[0] if written else None


def _newest_ms(file: Json | None) -> int | None:
    """By the manifest's bound; None if it has none, or for a file that was judged before."""
    bounds = (file or {}).get("upper_bounds") or ()
    found = next((bytes(each["value"]) for each in bounds if each["key"] == _TIMESTAMP_ID), None)
    if found is None or len(found) != _BOUND.size:
        return None
    micros: int = _BOUND.unpack(found)[0]
    return micros // _MICROS

"""Retention for files that no place in the log's index names: values set aside, repaired rows, and clustered rows.

    files of `quarantine`, and of `main` in the log's folder but not on `log`  ->  footers (kept): last offsets
    ->  those of whose records all lie below the starts of their partitions: retention lets go of them as well

These files hold copies of records that `log` has. Files that others wrote to `main` lie in the table's own folder, and
belong to them. The start of a partition never falls, so a file found to be deletable stays deletable. Where the table
has a retention of its own, `main` is none of this module's business (aged_files.py).
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import pyarrow as pa
import pyarrow.parquet as pq
import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.clusterable import is_clustered
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.table import MAIN_BRANCH, QUARANTINE_BRANCH, TablePointer
from lakestream.model.topic import TopicId
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.footer import ending_bytes, parse_footer
from lakestream.table.arrangement.clustered_files import last_offsets_of
from lakestream.world.objects.store import Buffer, ObjectStore

log = structlog.get_logger(__name__)

TAIL_BYTES = 64 * 1024
"""The footer of such a file. It is small, since few values are broken."""
KEPT_MAX = 10_000
"""The number of files whose last offsets are remembered. Above it all are read again."""

LastOffsets = Mapping[int, int]
"""By partition number."""


class Copies:
    def __init__(
        self, store: MetadataStore, objects: ObjectStore, locations: TableObjects, commits: TopicCommits
    ) -> None:
        self._store = store
        self._objects = objects
        self._locations = locations
        self._commits = commits
        self._kept: dict[str, LastOffsets] = {}

    async def of_quarantine(self, pointer: TablePointer, topic: TopicId) -> frozenset[str]:
        """Files of `quarantine` without a record from the log's start on. Raises DamagedTable."""
        return await self._below(topic, await self._commits.branch_files(pointer, QUARANTINE_BRANCH))

    async def of_main(self, pointer: TablePointer, topic: TopicId, log_files: AbstractSet[str]) -> frozenset[str]:
        """The same of `main`, without the files of the log: `log_files` is all of `log`. Raises DamagedTable."""
        own = f"{self._locations.log_folder(pointer.id)}/"
        on_main = await self._commits.branch_files(pointer, MAIN_BRANCH) - log_files
        return await self._below(topic, {file for file in on_main if file.startswith(own)})

    async def _below(self, topic: TopicId, candidates: AbstractSet[str]) -> frozenset[str]:
        if not candidates:
            return frozenset()
        starts = await self._starts(topic)
        return frozenset([file for file in sorted(candidates) if await self._is_below(file, starts)])

    async def _starts(self, topic: TopicId) -> dict[int, int]:
        """The first offset of each partition, by number; empty for a deleted topic."""
        found = next((one for one in (await self._store.topics()).topics if one.id == topic), None)
        if found is None:
            return {}
        sizes = await self._store.tails(found.partitions)
        return {
            number: sizes[partition].tail.log_start
            for number, partition in enumerate(found.partitions)
            if partition in sizes
        }

    async def _is_below(self, file: str, starts: Mapping[int, int]) -> bool:
        try:
            ends = await self._last_offsets(file)
        except LakestreamError as error:
            # An unreadable file stays. The rest of the table does not wait for it.
            log.warning("a file cannot be looked into", file=file, error=str(error))
            return False
        return all(last < starts.get(number, 0) for number, last in ends.items())

    async def _last_offsets(self, file: str) -> LastOffsets:
        if (kept := self._kept.get(file)) is not None:
            return kept
        key = self._locations.key_of(file)
        tail, size = await self._objects.get_tail(key, TAIL_BYTES)
        if (length := ending_bytes(file, tail, size)) > len(tail):
            tail = await self._objects.get_range(key, size - length, length)
        found = _of_clustered(file, tail) if is_clustered(file) else _of_rows(file, tail, size)
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[file] = found
        return found


def _of_rows(file: str, tail: Buffer, size: int) -> LastOffsets:
    return {number: own[-1].last_offset for number, own in parse_footer(file, tail, size).extents.items()}


def _of_clustered(file: str, tail: Buffer) -> LastOffsets:
    """A clustered file's footer states the last offsets of the files that it is made of."""
    found = last_offsets_of(pq.read_metadata(pa.BufferReader(pa.py_buffer(tail))))
    if found is None:
        raise MalformedTableFile(f"{file} does not state the offsets of its rows: was it written by someone else?")
    return found

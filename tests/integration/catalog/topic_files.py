"""A topic's table with real Parquet files, committed as compaction does: files, manifests, pointer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.topic_commits import PreparedCommit
from lakestream.catalog.topic.topic_table import TopicTableSpec
from lakestream.model.table import STREAMS, TablePointer
from lakestream.model.topic import TopicSpec
from lakestream.storage.tablefile.format.columns import LAST_COLUMN_ID, iceberg_fields
from tests.integration.catalog.gateway import RunningCatalog

_IDS = {"id": 1, "name": 2, "__partition": 2_000_000_101, "__offset": 2_000_000_102}
_USER_FIELDS = [
    {"id": 1, "name": "id", "required": False, "type": "long"},
    {"id": 2, "name": "name", "required": False, "type": "string"},
]


@dataclass
class TopicTable:
    """`rows` files of consecutive offsets; column `id` is the offset."""

    catalog: RunningCatalog
    name: str
    pointer: TablePointer
    location: str
    first_snapshot: int
    next_offset: int = 0

    @property
    def sql(self) -> str:
        return f"lake.streams.{self.name}"

    def append(self, rows: int, *, only_log: int = 0) -> None:
        """One commit of a file for both branches and, if asked, one that only `log` gets."""
        both = self._write(rows)
        hidden = [self._write(only_log)] if only_log else []
        self.catalog.run(self._commit({"log": [both, *hidden], "main": [both]}))

    def trim(self, files: int) -> list[Path]:
        """Let go of the first files, as retention does. Returns them: they are still there."""
        return self.catalog.run(self._trim(files))

    def forget(self) -> None:
        """Expire what retention has made superfluous."""

        async def forget() -> None:
            await self._move(await self.catalog.commits.expire(self.pointer, trimmed_before_ms=2**62))

        self.catalog.run(forget())

    def refresh(self) -> None:
        """Strangers have committed."""
        found = self.catalog.run(self.catalog.store.tables.table(STREAMS, self.name))
        assert found is not None
        self.pointer = found

    async def _trim(self, files: int) -> list[Path]:
        gone = sorted(await self.catalog.commits.log_files(self.pointer))[:files]
        await self._move(
            await self.catalog.commits.remove(self.pointer, dict.fromkeys(("log", "main"), frozenset(gone)))
        )
        return [Path(urlsplit(location).path) for location in gone]

    async def _move(self, prepared: PreparedCommit | None) -> None:
        assert prepared is not None
        await self.catalog.store.tables.move_tables([prepared.move])
        await self.catalog.commits.finish(prepared)
        self.pointer = prepared.move.pointer

    async def _commit(self, files: dict[str, Sequence[Json]]) -> None:
        commits = self.catalog.commits
        prepared = await commits.append(self.pointer, files, summary={"lakestream.job": self.catalog.ids.ulid()})
        await self._move(prepared)

    def _write(self, rows: int) -> Json:
        offsets = list(range(self.next_offset, self.next_offset + rows))
        self.next_offset += rows
        path = Path(urlsplit(self.location).path) / "data" / f"{offsets[0]:08d}-{self.catalog.ids.ulid()}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {
            "id": pa.array(offsets, pa.int64()),
            "name": pa.array([f"n{offset % 7}" for offset in offsets]),
            "__partition": pa.array([0] * rows, pa.int32()),
            "__offset": pa.array(offsets, pa.int64()),
        }
        schema = pa.schema(
            pa.field(name, column.type, metadata={"PARQUET:field_id": str(_IDS[name])})
            for name, column in columns.items()
        )
        pq.write_table(pa.table(list(columns.values()), schema=schema), path, compression="zstd")
        bounds = [value.to_bytes(8, "little").hex() for value in (offsets[0], offsets[-1])]
        return {
            "spec-id": 0,
            "content": "data",
            "file-path": f"{self.location}/data/{path.name}",
            "file-format": "parquet",
            "partition": [],
            "record-count": rows,
            "file-size-in-bytes": path.stat().st_size,
            "value-counts": {"keys": list(_IDS.values()), "values": [rows] * 4},
            "null-value-counts": {"keys": list(_IDS.values()), "values": [0] * 4},
            "lower-bounds": {"keys": [1, _IDS["__offset"]], "values": [bounds[0]] * 2},
            "upper-bounds": {"keys": [1, _IDS["__offset"]], "values": [bounds[1]] * 2},
            "split-offsets": [4],
        }


def new_topic_table(catalog: RunningCatalog, name: str, *, format_version: int) -> TopicTable:
    async def make() -> TopicTable:
        topic = TopicSpec(id=catalog.ids.topic_id(), name=name, partitions=1)
        await catalog.store.create_topic(topic)
        prepared = await catalog.commits.create(
            topic.id,
            STREAMS,
            name,
            TopicTableSpec(
                fields=[*_USER_FIELDS, *iceberg_fields()],
                last_column_id=LAST_COLUMN_ID,
                properties={"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"},
                format_version=format_version,
            ),
        )
        await catalog.store.tables.move_tables([prepared.move])
        location = prepared.metadata["location"]
        first = prepared.heads["log"]
        return TopicTable(
            catalog=catalog, name=name, pointer=prepared.move.pointer, location=location, first_snapshot=first
        )

    return catalog.run(make())

"""Writes the rows of a table's files as files of one partition each, sorted. Runs in Spark's workers.

    files, checked -> their row groups -> stretches of a bounded size -> arranged -> Parquet, a file for each partition

Rows keep every column of their file, the hidden ones too, and no value is decoded. Only `__shape` goes, since it is a
place in a list of the old file's own. Files with other columns go into files of their own.

Nobody replays the log from these files. Their footers say only up to which offsets their rows may go, for retention.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.catalog.files.commit_names import CLUSTERED_FILE_END
from lakestream.model.file_compression import UNCOMPRESSED, FileCompression
from lakestream.storage.tablefile.format.blocks import BadBlocks
from lakestream.storage.tablefile.format.columns import SHAPE, VALUE
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.footer import parse_footer
from lakestream.storage.tablefile.format.runs import FOOTER_KEY
from lakestream.storage.tablefile.format.typed import field_id, leaf_ids
from lakestream.storage.tablefile.write.bounds import Bounds
from lakestream.storage.tablefile.write.encodings import NO_CODEC
from lakestream.storage.tablefile.write.metrics import described
from lakestream.table.arrangement.arranging import FileLayout, arranged
from lakestream.world.objects.store import Buffer

LAST_OFFSETS_KEY = "lakestream.last-offsets"
"""In a clustered file's footer: `[[partition, last offset], ...]`, of all files that it is made of."""
STRETCH_BYTES_MAX = 512 * 1024 * 1024
"""Decoded rows that are arranged together. A worker needs about three times as much."""
GROUP_ROWS_MAX = 128 * 1024
GROUP_BYTES_MAX = 32 * 1024 * 1024
"""Row groups are for skipping: a sorted file is worth little if it is one group."""

LastOffsets = dict[int, int]
"""By partition number of the topic."""


class ClusterSource(NamedTuple):
    path: str
    """The file's location in the table's metadata."""
    key: str
    """Its key in the object store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWork:
    sources: tuple[ClusterSource, ...]
    layout: FileLayout
    last_offsets: tuple[tuple[int, int], ...] = ()
    """Of files whose rows do not carry their offsets: the last one in each partition."""


class ClusteredFile(NamedTuple):
    file: FileDescriptor
    partition: tuple[Any, ...]
    """The values of the partition fields, as manifests hold them; decimals as whole numbers."""

    def to_json(self) -> list[Any]:
        values = [{"hex": value.hex()} if isinstance(value, bytes) else value for value in self.partition]
        return [self.file.to_json(), values]

    @classmethod
    def from_json(cls, content: Sequence[Any]) -> "ClusteredFile":
        values = [bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for value in content[1]]
        return cls(FileDescriptor.from_json(content[0]), tuple(values))


class WrittenFile(NamedTuple):
    name: str
    parts: list[Buffer]
    clustered: ClusteredFile


def clustered_files(
    contents: Sequence[tuple[str, Buffer]], work: ClusterWork, *, folder: str, name: str, compression: FileCompression
) -> Iterator[WrittenFile]:
    """The files, one after the other; each is named `name` and its number. Raises MalformedTableFile, and ValueError if
    the rows cannot be laid out so."""
    last_offsets = dict(work.last_offsets)
    files = [_open(path, content, last_offsets) for path, content in contents]
    footer = {LAST_OFFSETS_KEY: json.dumps(sorted(last_offsets.items()))}
    number = rows = 0
    for stretch in _stretches(files):
        for partition, places in arranged(stretch, work.layout):
            file = f"{name}-{number:04d}{CLUSTERED_FILE_END}"
            ordered = (stretch.take(pa.array(part)) for part in _groups(places, stretch))
            parts, descriptor = _written(ordered, stretch.schema, f"{folder}/{file}", compression, footer)
            number, rows = number + 1, rows + descriptor.record_count
            yield WrittenFile(file, parts, ClusteredFile(descriptor, partition))
    if rows != sum(file.metadata.num_rows for file in files):
        raise ValueError("the clustered files would not have all rows of the files that they are made of")


def last_offsets_of(metadata: pq.FileMetaData) -> LastOffsets | None:
    """The offsets up to which the rows of a clustered file may go; None for any other file."""
    text = (metadata.metadata or {}).get(LAST_OFFSETS_KEY.encode())
    return None if text is None else {int(number): int(last) for number, last in json.loads(text)}


def _open(path: str, content: Buffer, last_offsets: LastOffsets) -> pq.ParquetFile:
    """Also notes the last offsets of the file's rows."""
    file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(content)), pre_buffer=False)
    found = last_offsets_of(file.metadata)
    if found is None and FOOTER_KEY.encode() in (file.metadata.metadata or {}):
        footer = parse_footer(path, content, len(content))
        try:
            footer.blocks.check(0, memoryview(content)[: footer.blocks.covered_bytes])
        except BadBlocks as error:
            raise MalformedTableFile(f"table file {path} is damaged: {error}. Restore the object") from error
        found = {number: extents[-1].last_offset for number, extents in footer.extents.items()}
    for number, last in (found or {}).items():
        last_offsets[number] = max(last, last_offsets.get(number, last))
    return file


def _stretches(files: Iterable[pq.ParquetFile]) -> Iterator[pa.Table]:
    """Rows of the same columns together, as many as may be in memory at once."""
    alike: dict[str, list[pq.ParquetFile]] = {}
    for file in files:
        alike.setdefault(str(file.metadata.schema).partition("\n")[2], []).append(file)
    for own in alike.values():
        names = [name for name in own[0].schema_arrow.names if name != SHAPE]
        together: list[pa.Table] = []
        for file in own:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=names, use_threads=False)
                if together and sum(each.nbytes for each in together) + rows.nbytes > STRETCH_BYTES_MAX:
                    yield pa.concat_tables(together)
                    together = []
                together.append(rows)
        if together:
            yield pa.concat_tables(together)


def _groups(places: Any, rows: pa.Table) -> Iterator[Any]:
    """The rows of a file, cut into its row groups."""
    row_bytes = max(1, rows.nbytes // max(1, rows.num_rows))
    step = max(1, min(GROUP_ROWS_MAX, GROUP_BYTES_MAX // row_bytes))
    return (places[at : at + step] for at in range(0, len(places), step))


def _written(
    groups: Iterable[pa.Table],
    schema: pa.Schema,
    path: str,
    compression: FileCompression,
    footer: Mapping[str, str],
) -> tuple[list[Buffer], FileDescriptor]:
    out, collected = pa.BufferOutputStream(), list[pq.FileMetaData]()
    plain = [field for field in schema if not pa.types.is_nested(field.type)]
    bounds = {field.name: Bounds(field.type, nulls_only=field.name == VALUE) for field in plain}
    codec = NO_CODEC if compression.codec == UNCOMPRESSED else compression.codec
    with pq.ParquetWriter(
        out,
        schema,
        compression=codec,
        compression_level=compression.level if codec != NO_CODEC else None,
        write_statistics=[name for name in bounds if name != VALUE],
        store_schema=False,
        store_decimal_as_integer=True,
        metadata_collector=collected,
    ) as writer:
        for table in groups:
            for name, each in bounds.items():
                each.count(table.column(name))
            writer.write_table(table, row_group_size=table.num_rows)
        writer.add_key_value_metadata(footer)
    by_id = {field_id(schema.field(name)): each for name, each in bounds.items()}
    content = memoryview(out.getvalue())
    return [content], described(path, len(content), collected[0], by_id, (), leaf_ids(schema))

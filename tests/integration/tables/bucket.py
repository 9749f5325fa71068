"""What someone finds who has nothing but the bucket: no catalog, no metadata store, no running process.

    segments: receipts tell which bytes got which offsets      tables: the newest metadata file -> branch `log` -> rows

Table files are read by PyIceberg, which knows nothing of us. What is in both places, for a grace, is the same record.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyiceberg.table import StaticTable

from lakestream.catalog.files.commit_names import version_of
from lakestream.model.table import LOG_BRANCH
from lakestream.model.topic import TopicId
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.header import read_header
from lakestream.storage.wal.segment import Receipt, decode_footer
from lakestream.table.topic_tables import TOPIC_ID
from tests.integration.tables.live import Record

BYTES_MAX = 1 << 30


class Bucket:
    def __init__(self, objects: Path) -> None:
        self._objects = objects

    def log(self, topic: TopicId) -> list[Record]:
        """Of a topic, by partition and offset."""
        found: dict[tuple[int, int], Record] = {}
        for record in (*self.in_segments(topic), *self._in_table(topic)):
            known = found.setdefault((record.partition, record.offset), record)
            assert known == record, "two things are told of one offset"
        return sorted(found.values())

    def in_segments(self, topic: TopicId) -> Iterator[Record]:
        segments = self._segments()
        receipts = [receipt for content in segments.values() for receipt in decode_footer(content).receipts]
        for receipt in receipts:
            if receipt.topic_id == topic and receipt.segment in segments:
                yield from _records(receipt, segments[receipt.segment])

    def unreceipted(self) -> set[str]:
        """Segments with records of which nobody has written yet what offsets they were given."""
        footers = [decode_footer(content) for content in self._segments().values()]
        receipted = {receipt.segment for footer in footers for receipt in footer.receipts}
        return {footer.segment for footer in footers if footer.entries} - receipted

    def table(self, topic: TopicId) -> StaticTable | None:
        """As the newest of its metadata files has it."""
        for folder in (self._objects / "tables").glob("*-log/metadata"):
            newest = max(folder.glob("*.metadata.json"), key=lambda path: version_of(path.name))
            table = StaticTable.from_metadata(newest.as_uri())
            if table.properties[TOPIC_ID] == topic.hex():
                return table
        return None

    def _segments(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for path in (self._objects / "wal").rglob("*.lsg"):
            with suppress(FileNotFoundError):  # it went while we looked
                found[path.stem] = path.read_bytes()
        return found

    def _in_table(self, topic: TopicId) -> Iterator[Record]:
        if (table := self.table(topic)) is not None:
            log = table.metadata.refs[LOG_BRANCH].snapshot_id
            yield from map(_row, table.scan(snapshot_id=log).to_arrow().to_pylist())


def _records(receipt: Receipt, segment: bytes) -> Iterator[Record]:
    """Offsets follow one another from where the receipt says."""
    run, at = segment[receipt.at : receipt.at + receipt.length], 0
    bases, base = list[int](), receipt.base_offset
    while at < len(run):
        header = read_header(run, at)
        bases.append(base)
        base += header.last_offset_delta + 1
        at += header.total_bytes
    assert base == receipt.base_offset + receipt.records
    for row in decode_batches(run, bytes_max=BYTES_MAX, base_offsets=bases).to_pylist():
        time_ms = receipt.append_ms if receipt.append_ms >= 0 else row["timestamp"]
        yield Record(receipt.partition, row["offset"], row["key"], row["value"], _headers(row["headers"]), time_ms)


def _row(row: dict[str, Any]) -> Record:
    time_ms = round(row["__timestamp"].timestamp() * 1000)
    headers = _headers(row["__headers"] or [])
    return Record(row["__partition"], row["__offset"], row["__key"], row["__value"], headers, time_ms)


def _headers(found: list[dict[str, Any]]) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((header["key"], header["value"]) for header in found)

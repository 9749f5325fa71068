"""Reads the table's side on Spark: `<table>__log` as a plain Iceberg table at one snapshot, hashed by Spark itself.

An unreadable batch is one row that holds its bytes (form 4). Its first 16 bytes contain its place in the log and are
patched when it is sent, so both sides leave them out. Its time is among the bytes.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakestream.model.row_form import Form
from lakestream.storage.tablefile.format.columns import FORM, HEADERS, KEY, OFFSET, PARTITION, TIMESTAMP, VALUE
from lakestream.table.verify.digest import CHUNK_OFFSETS, Chunk, Digest, Digests
from lakestream.table.verify.values import TypedFiles, with_values

PLACE_BYTES = 16
"""The beginning of a batch's header: base offset, length, leader epoch."""
_HALF = 32
_LOW = 0xFFFF_FFFF


class Range(NamedTuple):
    """Offsets [start, end) of a partition."""

    start: int
    end: int


class DataFileRow(NamedTuple):
    path: str
    rows: int
    bytes: int


class CountedRows(NamedTuple):
    """Row counts and offsets as found in the files."""

    by_file: Mapping[str, int]
    ends: Mapping[int | None, int]
    """By partition, the offset after the last row."""


class LogRows:
    def __init__(self, session: SparkSession, table: str, snapshot_id: int) -> None:
        """`table` is qualified: lake.streams.orders__log."""
        self.typed: TypedFiles | None = None
        """How to read values from columns, if the table has typed ones."""
        self._session = session
        self._table = table
        self._snapshot_id = snapshot_id

    def files(self) -> list[DataFileRow]:
        """The data files that the manifests name."""
        found = self._read(f"{self._table}.files").select("file_path", "record_count", "file_size_in_bytes").collect()
        return [DataFileRow(*row) for row in found]

    def manifests(self) -> list[str]:
        return [row[0] for row in self._read(f"{self._table}.manifests").select("path").collect()]

    def counted(self, appended: AbstractSet[str]) -> CountedRows:
        """Rows of `appended` files have no offsets."""
        rows = self._read(self._table).groupBy("_file", PARTITION).agg(f.count("*"), f.max(OFFSET)).collect()
        by_file: dict[str, int] = {}
        ends: dict[int | None, int] = {}
        for file, partition, count, last in rows:
            by_file[file] = by_file.get(file, 0) + count
            if file in appended:
                continue
            ends[partition] = max(ends.get(partition, 0), 0 if last is None else last + 1)
        return CountedRows(by_file, ends)

    def digests(self, ranges: Mapping[int, Range]) -> Digests:
        found = (
            self._rows()
            .transform(hashed)
            .join(f.broadcast(self._ranges(ranges)), on="partition", how="inner")
            .where((f.col("offset") >= f.col("start")) & (f.col("offset") < f.col("end")))
            .transform(digested)
            .collect()
        )
        return {Chunk(partition, number): Digest(*digest) for partition, number, *digest in found}

    def hashes(self, partition: int, range: Range) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(offsets, hashes) of a few rows, in offset order."""
        found = (
            self._rows()
            .where((f.col(PARTITION) == partition) & f.col(OFFSET).between(range.start, range.end - 1))
            .transform(hashed)
            .select("offset", "hash")
            .orderBy("offset")
            .toArrow()
        )
        return found.column("offset").to_numpy(), found.column("hash").to_numpy()

    def _rows(self) -> DataFrame:
        rows = self._read(self._table)
        return rows if self.typed is None else with_values(rows, self.typed)

    def _read(self, table: str) -> DataFrame:
        return self._session.read.option("versionAsOf", str(self._snapshot_id)).table(table)

    def _ranges(self, ranges: Mapping[int, Range]) -> DataFrame:
        rows = [(partition, *range) for partition, range in ranges.items()]
        return self._session.createDataFrame(rows, "partition int, start bigint, end bigint")


def hashed(rows: DataFrame) -> DataFrame:
    """partition, offset, hash; the same hash as in hashing.py."""
    is_batch = f.col(FORM) == f.lit(Form.RAW_BATCH.value)
    value = f.when(is_batch, f.substring(f.col(VALUE), PLACE_BYTES + 1, 2**31 - 1)).otherwise(f.col(VALUE))
    time_ms = f.when(is_batch, f.lit(None)).otherwise(f.unix_millis(f.col(TIMESTAMP)))
    headers = f.transform(f.col(HEADERS), lambda one: f.struct(one["key"], _length(one["value"]), one["value"]))
    return rows.select(
        f.col(PARTITION).alias("partition"),
        f.col(OFFSET).alias("offset"),
        f.xxhash64(
            f.col(OFFSET),
            f.coalesce(time_ms, f.lit(-1).cast("bigint")),
            _length(f.col(KEY)),
            f.col(KEY),
            _length(value),
            value,
            f.size(f.col(HEADERS)).cast("bigint"),
            headers,
        ).alias("hash"),
    )


def digested(rows: DataFrame) -> DataFrame:
    """partition, number and digest of each chunk."""
    hash = f.col("hash")
    return rows.groupBy("partition", f.expr(f"offset div {CHUNK_OFFSETS}").alias("number")).agg(
        f.count("*").alias("records"),
        f.bit_xor(hash).alias("xor"),
        f.sum(hash.bitwiseAND(f.lit(_LOW))).alias("low"),
        f.sum(f.shiftrightunsigned(hash, _HALF)).alias("high"),
    )


def _length(content: Column) -> Column:
    return f.coalesce(f.octet_length(content).cast("bigint"), f.lit(-1).cast("bigint"))

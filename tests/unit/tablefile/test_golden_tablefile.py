"""The golden table file is read as on the day it was written."""

import json

import duckdb

from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.header import Codec, read_header
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from tests.golden.records.make import readable
from tests.golden.tablefile.make import HERE
from tests.unit.records.samples import BYTES_MAX

from .files import Bench, file_span, read_through, with_files

CONTENT = (HERE / "v1.parquet").read_bytes()
FACTS = json.loads((HERE / "v1.json").read_text())
DESCRIPTOR = FileDescriptor.from_json(FACTS["descriptor"])


def batches_of(partition: int) -> list[bytes]:
    async def replay(bench: Bench) -> list[bytes]:
        runs = await read_through(bench.reader, file_span(DESCRIPTOR, partition), 0, 1 << 20)
        return [bytes(part) for run in runs for part in run.parts]

    return with_files({DESCRIPTOR.path: CONTENT}, replay)


def test_records_of_both_partitions_come_back() -> None:
    for partition, expected in FACTS["records"].items():
        batches = batches_of(int(partition))
        readables = [batch for batch in batches if batch[16:] != bytes.fromhex(FACTS["raw_batch"])[16:]]
        rows = decode_batches(b"".join(readables), bytes_max=BYTES_MAX).to_pylist()
        assert [readable(row) for row in rows] == expected


def test_codecs_the_raw_batch_and_the_kind_of_time_come_back() -> None:
    headers = [read_header(batch) for batch in batches_of(0)]
    assert [header.codec_number for header in headers if header.base_offset < 1_004] == [Codec.NONE]
    assert {header.codec_number for header in headers if 1_004 <= header.base_offset < 1_020} == {Codec.LZ4}
    assert batches_of(0)[-1][16:] == bytes.fromhex(FACTS["raw_batch"])[16:]
    assert headers[-1].base_offset == 1_020
    assert all(read_header(batch).is_log_append_time for batch in batches_of(4))


def test_sql_reads_it_as_it_is() -> None:
    path = HERE / "v1.parquet"
    query = (
        f"select __partition, __form, count(*), min(__offset), max(__offset) from '{path}' group by all order by all"
    )
    assert duckdb.sql(query).fetchall() == [
        (0, 1, 15, 1000, 1019),
        (0, 2, 5, 1002, 1018),
        (0, 4, 1, 1020, 1020),
        (4, 1, 3, 7, 10),
        (4, 2, 1, 9, 9),
    ]
    assert DESCRIPTOR.record_count == 25

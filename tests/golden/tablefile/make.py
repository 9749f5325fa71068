"""Write the golden table file of the current format version. Never overwrites one that is there."""

import json
from pathlib import Path

from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import ALL, LAST_COLUMN_ID, iceberg_fields
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import Stretch, raw_stretch, stretches_of_span
from lakestream.storage.tablefile.write.writer import write_table_file
from tests.golden.records.make import readable
from tests.unit.records.samples import ROWS, Row, one_batch, with_records

HERE = Path(__file__).parent
APPEND_MS = 1_763_000_123_456
BASE_OFFSETS = {0: 1_000, 4: 7}


def raw_batch() -> bytes:
    """Four records by its header; what follows is none."""
    return with_records(one_batch(ROWS), b"\xff" * 40)


def stretches() -> list[Stretch]:
    """Two partitions: all codecs and a raw batch in the first, log-append time in the second."""
    batches = b"".join(one_batch(ROWS, codec) for codec in Codec)
    span = {"append_ms": -1, "decompressed_bytes_max": 1 << 20}
    end = BASE_OFFSETS[0] + len(Codec) * len(ROWS)
    stamped = {**span, "append_ms": APPEND_MS}
    return [
        *stretches_of_span(batches, partition=0, base_offset=BASE_OFFSETS[0], **span),
        raw_stretch(raw_batch(), partition=0, base_offset=end),
        *stretches_of_span(one_batch(ROWS, Codec.ZSTD), partition=4, base_offset=BASE_OFFSETS[4], **stamped),
    ]


def records() -> dict[int, list[Row]]:
    """What consumers get of each partition, the raw batch left out."""
    first = [
        {**row, "offset": BASE_OFFSETS[0] + at * len(ROWS) + row["offset"]} for at in range(len(Codec)) for row in ROWS
    ]
    second = [{**row, "offset": BASE_OFFSETS[4] + row["offset"], "timestamp": APPEND_MS} for row in ROWS]
    return {0: first, 4: second}


def main() -> None:
    parts, descriptor = write_table_file(
        stretches(), path="v1.parquet", with_form=True, limits=RowGroupLimits(rows_max=8, alone_rows=8)
    )
    facts = {
        "descriptor": descriptor.to_json(),
        "raw_batch": raw_batch().hex(),
        "records": {partition: [readable(row) for row in rows] for partition, rows in records().items()},
    }
    columns = {"last-column-id": LAST_COLUMN_ID, "fields": iceberg_fields(ALL)}
    files = {
        "v1.parquet": b"".join(parts),
        "v1.json": (json.dumps(facts, indent=1) + "\n").encode(),
        "columns.json": (json.dumps(columns, indent=1) + "\n").encode(),
    }
    for name, content in files.items():
        if not (HERE / name).exists():
            (HERE / name).write_bytes(content)
            print(f"wrote {name}")


if __name__ == "__main__":
    main()

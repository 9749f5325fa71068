"""Write the golden record batches that are missing. Never overwrites one that is there."""

import json
from pathlib import Path

import cramjam

from lakestream.storage.records.header import HEADER_BYTES, Codec, with_log_append_time
from tests.unit.records.samples import ROWS, Row, one_batch, with_records

HERE = Path(__file__).parent
APPEND_MS = 1_763_000_123_456


def batches() -> dict[str, bytes]:
    plain = one_batch(ROWS)
    records = plain[HEADER_BYTES:]
    return {
        "none": plain,
        "gzip": one_batch(ROWS, Codec.GZIP),
        "snappy-xerial": one_batch(ROWS, Codec.SNAPPY),
        "snappy-raw": with_records(one_batch(ROWS, Codec.SNAPPY), bytes(cramjam.snappy.compress_raw(records))),
        "lz4": one_batch(ROWS, Codec.LZ4),
        "zstd-with-size": one_batch(ROWS, Codec.ZSTD),
        "zstd-without-size": with_records(one_batch(ROWS, Codec.ZSTD), zstd_without_size(records)),
        "log-append-time": with_log_append_time(one_batch(ROWS, Codec.LZ4), APPEND_MS),
    }


def zstd_without_size(data: bytes) -> bytes:
    stream = cramjam.zstd.Compressor(level=3)
    stream.compress(data)
    return bytes(stream.finish())


def readable(row: Row) -> Row:
    return {
        **row,
        "key": _hex(row["key"]),
        "value": _hex(row["value"]),
        "headers": [{"key": header["key"], "value": _hex(header["value"])} for header in row["headers"]],
    }


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def main() -> None:
    facts = {"append_ms": APPEND_MS, "rows": [readable(row) for row in ROWS]}
    files = {f"{name}.bin": batch for name, batch in batches().items()}
    files["rows.json"] = (json.dumps(facts, indent=1) + "\n").encode()
    for name, content in files.items():
        if not (HERE / name).exists():
            (HERE / name).write_bytes(content)
            print(f"wrote {name}")


if __name__ == "__main__":
    main()

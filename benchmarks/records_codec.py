"""How fast record batches are validated, decoded and encoded: `python -m benchmarks.records_codec`.

Each figure is the best of several runs in CPU time, on one core, with everything included that the product
does: CRC, header, Arrow arrays. GB/s count the bytes of the batches uncompressed.
"""

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import HEADER_BYTES, Codec, read_header
from lakestream.storage.records.validate import Limits, validate_batch
from lakestream.storage.records.walk import check_records

RUN_BYTES = 8 << 20
"""About what one flush holds."""
BYTES_MAX = 1 << 30
NOW_MS = 1_763_000_000_000
LIMITS = Limits(
    batch_bytes_max=BYTES_MAX,
    decompressed_bytes_max=BYTES_MAX,
    now_ms=NOW_MS,
    timestamp_before_max_ms=1 << 63,
    timestamp_after_max_ms=1 << 40,
)
REPEATS = 15


def main() -> None:
    print(f"{'values':>8} {'batches':>8} {'codec':>7} {'what':>9} {'Mrec/s':>8} {'GB/s':>7} {'us/batch':>9}")
    for value_bytes in (100, 1000):
        rows = rows_of(value_bytes)
        for batch_bytes in (16 << 10, 1 << 20):
            measure(rows, value_bytes, batch_bytes, Codec.NONE)
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
            measure(rows, value_bytes, 1 << 20, codec)
    tiny = bytes(encode_batches(rows_of(100).slice(0, 1), batch_bytes_max=BYTES_MAX)[0])
    print(f"validating a batch of one record: {best(lambda: validate_batch(tiny, LIMITS), 20_000) * 1e6:.1f} us")


def rows_of(value_bytes: int) -> pa.RecordBatch:
    """Half random letters, half the same for all: compresses about as far as JSON does."""
    count = RUN_BYTES // (value_bytes + 20)
    letters = np.random.default_rng(1).integers(97, 123, (count, value_bytes), dtype=np.uint8)
    letters[:, value_bytes // 2 :] = np.arange(value_bytes - value_bytes // 2) % 26 + 97
    offsets = np.arange(count + 1, dtype=np.int32) * value_bytes
    values = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(letters.ravel())])
    return pa.record_batch(
        [
            pa.array(np.arange(count)),
            pa.array(NOW_MS + np.arange(count) // 10),
            pa.array([b"key-%06d" % i for i in range(count)], pa.binary()),
            values,
            pa.array([[]] * count, SCHEMA.field("headers").type),
        ],
        schema=SCHEMA,
    )


def measure(rows: pa.RecordBatch, value_bytes: int, batch_bytes: int, codec: Codec) -> None:
    batches = [bytes(batch) for batch in encode_batches(rows, batch_bytes_max=batch_bytes, codec=codec)]
    run = b"".join(batches)
    fresh = [b"\x00" * 8 + batch[8:] for batch in batches]
    size = sum(len(batch) for batch in encode_batches(rows, batch_bytes_max=batch_bytes))
    figures: dict[str, Callable[[], object]] = {
        "validate": lambda: [validate_batch(batch, LIMITS) for batch in fresh],
        "decode": lambda: decode_batches(run, bytes_max=BYTES_MAX),
        "encode": lambda: encode_batches(rows, batch_bytes_max=batch_bytes, codec=codec),
    }
    if codec is Codec.NONE:
        figures = {"walk": lambda: [walk(batch) for batch in fresh], **figures}
    for name, work in figures.items():
        seconds = best(work, REPEATS)
        print(
            f"{value_bytes:>6} B {batch_bytes >> 10:>4} KiB {codec.name.lower():>7} {name:>9} "
            f"{rows.num_rows / seconds / 1e6:>8.1f} {size / seconds / 1e9:>7.2f} {seconds / len(batches) * 1e6:>9.1f}"
        )


def walk(batch: bytes) -> object:
    header = read_header(batch)
    return check_records(batch, at=HEADER_BYTES, count=header.record_count, base_timestamp_ms=header.base_timestamp_ms)


def best(work: Callable[[], object], repeats: int) -> float:
    work()
    seconds = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        seconds = min(seconds, time.process_time() - started)
    return seconds


if __name__ == "__main__":
    main()

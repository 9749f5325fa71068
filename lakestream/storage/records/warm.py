"""Compile every kernel into Numba's cache, so that no broker compiles while it serves.

    python -m lakestream.storage.records.warm

It takes seconds once, at set-up, and milliseconds afterwards. A start with a warm cache compiles
nothing: a test runs this file twice and counts.
"""

import pyarrow as pa

from lakestream.storage.records import kernels
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.records.timestamps import max_timestamp
from lakestream.storage.records.walk import check_records

KERNELS = (
    kernels.index_batches,
    kernels.walk_records,
    kernels.find_times,
    kernels.decode_bodies,
    kernels.encode_rows,
)
_BYTES_MAX = 4096


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    row = {"offset": 0, "timestamp": 0, "key": b"key", "value": None, "headers": [{"key": "name", "value": None}]}
    (batch,) = encode_batches(pa.RecordBatch.from_pylist([row], schema=SCHEMA), batch_bytes_max=_BYTES_MAX)
    decode_batches(batch, bytes_max=_BYTES_MAX)
    check_records(batch, at=HEADER_BYTES, count=1, base_timestamp_ms=0)
    max_timestamp(batch, bytes_max=_BYTES_MAX)
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def main() -> None:
    compiled = warm()
    print(f"record kernels ready: {compiled} compiled now, {len(KERNELS) - compiled} from the cache")


if __name__ == "__main__":
    main()

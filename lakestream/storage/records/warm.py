"""Compiles every kernel into Numba's cache, so that no broker compiles while it serves.

    python -m lakestream.storage.records.warm

It takes seconds once, at set-up, and milliseconds afterwards. A start with a warm cache compiles nothing: a test runs
this file twice and counts.
"""

import numpy as np
import pyarrow as pa

from lakestream.storage.records.arrays import as_array
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.records.kernels.decoding import decode_bodies
from lakestream.storage.records.kernels.encoding import encode_rows
from lakestream.storage.records.kernels.indexing import index_batches
from lakestream.storage.records.kernels.timing import find_times
from lakestream.storage.records.kernels.views import VIEW_NUMBERS, plain_views
from lakestream.storage.records.kernels.walking import walk_records
from lakestream.storage.records.timestamps import max_timestamp
from lakestream.storage.records.walk import check_records

KERNELS = (
    index_batches,
    walk_records,
    find_times,
    decode_bodies,
    encode_rows,
    plain_views,
)
_BYTES_MAX = 4096


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    row = {"offset": 0, "timestamp": 0, "key": b"key", "value": None, "headers": [{"key": "name", "value": None}]}
    (batch,) = encode_batches(pa.RecordBatch.from_pylist([row], schema=SCHEMA), batch_bytes_max=_BYTES_MAX)
    decode_batches(batch, bytes_max=_BYTES_MAX)
    no_views = np.empty((0, VIEW_NUMBERS), np.int32)
    plain_views(as_array(b""), 0, 0, 0, no_views, 0)
    check_records(batch, at=HEADER_BYTES, count=1, base_timestamp_ms=0)
    max_timestamp(batch, bytes_max=_BYTES_MAX)
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def main() -> None:
    compiled = warm()
    print(f"record kernels ready: {compiled} compiled now, {len(KERNELS) - compiled} from the cache")


if __name__ == "__main__":
    main()

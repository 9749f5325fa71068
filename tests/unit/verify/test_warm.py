"""After warming, `verify` compiles nothing: whatever its rows hold, the kernel is called with one set of types."""

import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA
from lakestream.table.verify import hashing
from lakestream.table.verify.warm import warm

BARE = {"offset": 1, "timestamp": -1, "key": None, "value": None, "headers": []}
FULL = {"offset": 2, "timestamp": 5, "key": b"k", "value": b"v", "headers": [{"key": "h", "value": b"x"}]}


def test_rows_of_every_shape_need_one_compiled_kernel() -> None:
    warm()
    for rows in ([BARE], [FULL], [BARE, FULL], []):
        hashing.record_hashes(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    assert len(hashing.KERNEL.signatures) == 1

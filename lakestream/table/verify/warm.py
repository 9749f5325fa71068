"""Compiles the hash kernel into Numba's cache, so that the first `verify` does not take seconds longer.

python -m lakestream.table.verify.warm
"""

import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA
from lakestream.table.verify import hashing


def warm() -> int:
    """Use the kernel once, as `verify` does. Returns how many kernels had to be compiled."""
    row = {"offset": 0, "timestamp": 0, "key": b"key", "value": None, "headers": [{"key": "name", "value": None}]}
    hashing.record_hashes(pa.RecordBatch.from_pylist([row], schema=SCHEMA))
    return sum(hashing.KERNEL.stats.cache_misses.values())


def main() -> None:
    print(f"hash kernel ready: {warm()} compiled now")


if __name__ == "__main__":
    main()

"""Compiles the Avro kernels into Numba's cache, so that no process compiles while it works.

    python -m lakestream.contract.codecs.avro.warm

It takes some ten seconds once, at set-up, and milliseconds afterwards.
"""

import pyarrow as pa

from lakestream.contract.codecs.avro.codec import bind, writer_of
from lakestream.contract.codecs.avro.kernels.checking import check_rows
from lakestream.contract.codecs.avro.kernels.decoding import decode_rows, finish
from lakestream.contract.codecs.avro.kernels.encoding import encode_rows
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.avro.format import AvroSchema
from lakestream.contract.registry.avro.types import Primitive

KERNELS = (decode_rows, finish, check_rows, encode_rows)


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    layout = Layout().merged([Wanted(key="value", kind="int")])
    codec = bind(writer_of(AvroSchema(Primitive(kind="int"), frozenset()), 1), layout)
    codec.encode(codec.decode(pa.array([b"\2"], type=pa.binary())).columns, None)
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def main() -> None:
    compiled = warm()
    print(f"avro kernels ready: {compiled} compiled now, {len(KERNELS) - compiled} from the cache")


if __name__ == "__main__":
    main()

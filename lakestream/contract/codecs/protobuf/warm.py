"""Compiles the Protobuf kernels into Numba's cache, so that nothing compiles while records wait.

python -m lakestream.contract.codecs.protobuf.warm
"""

import pyarrow as pa

from lakestream.contract.codecs.protobuf.codec import bind, writer_of
from lakestream.contract.codecs.protobuf.kernels.comparing import same_rows
from lakestream.contract.codecs.protobuf.kernels.decoding import read_rows
from lakestream.contract.codecs.protobuf.kernels.encoding import write_rows
from lakestream.contract.codecs.protobuf.kernels.gathering import gather
from lakestream.contract.columns.from_protobuf import wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.protobuf.format import ProtobufFormat

KERNELS = (read_rows, gather, write_rows, same_rows)
_SCHEMA = 'syntax = "proto3"; message Row { string text = 1; repeated Row rows = 2; }'


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    schema = ProtobufFormat().parse(_SCHEMA, [])
    codec = bind(writer_of(schema, number=1, framed=True), Layout().merged(wanted_columns(schema)))
    codec.decode(pa.array([b"\0\x0a\x01a"], pa.binary()))
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def main() -> None:
    compiled = warm()
    print(f"Protobuf kernels ready: {compiled} compiled now, {len(KERNELS) - compiled} from the cache")


if __name__ == "__main__":
    main()

"""Compiles every kernel for JSON into Numba's cache, so that no pipeline compiles while it works.

    python -m lakestream.contract.codecs.json.warm

It takes most of a minute once, at set-up, and milliseconds afterwards.
"""

import pyarrow as pa

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION, bind
from lakestream.contract.codecs.json.kernels.decoding import decode_rows
from lakestream.contract.codecs.json.kernels.finding import edge_hash, text_hash
from lakestream.contract.codecs.json.kernels.gathering import find_objects, gather
from lakestream.contract.codecs.json.kernels.writing import encode_rows
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

KERNELS = (text_hash, edge_hash, decode_rows, gather, find_objects, encode_rows)


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    writer = Writer(number=0, format="json", codec=CODEC_VERSION, framed=False)
    codec = bind(writer, Layout().merged([Wanted(key="key", kind=STRING)]))
    decoded = codec.decode(pa.array([b'{"key":"value"}', b'{"new":[{"a":1}]}'], pa.binary()))
    assert decoded.shapes is not None
    codec.encode(decoded.columns.slice(0, 1), decoded.shapes[:1])
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def main() -> None:
    compiled = warm()
    found = sum(sum(kernel.stats.cache_hits.values()) for kernel in KERNELS)  # one is compiled for two kinds of numbers
    print(f"JSON kernels ready: {compiled} compiled now, {found} from the cache")


if __name__ == "__main__":
    main()

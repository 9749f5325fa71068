"""Codecs and values for the tests of JSON."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.codec import Decoded, Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION, JsonCodec, bind
from lakestream.contract.columns.json_text import JSON_TEXT, wanted_json_text
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

WRITER = Writer(number=0, format="json", codec=CODEC_VERSION, framed=False)


def layout_of(kinds: Mapping[str, str]) -> Layout:
    return Layout().merged(
        [wanted_json_text(key) if kind == JSON_TEXT else Wanted(key=key, kind=kind) for key, kind in kinds.items()]
    )


def codec_of(kinds: Mapping[str, str], *, declared: bool = False) -> JsonCodec:
    return bind(WRITER, layout_of(kinds), declared=declared)


def binary(rows: Sequence[bytes]) -> pa.BinaryArray:
    return pa.array(list(rows), pa.binary())


def replayed(codec: JsonCodec, decoded: Decoded) -> dict[int, bytes]:
    """By row: what comes back of the exact rows, from a codec that knows only what a file keeps."""
    rows = np.flatnonzero(decoded.exact)
    reader = bind(WRITER, codec._layout)
    reader.shapes = list(codec.shapes)
    assert decoded.shapes is not None
    encoded = reader.encode(decoded.columns.take(pa.array(rows)), decoded.shapes[rows])
    return dict(zip(rows.tolist(), encoded.to_pylist(), strict=True))

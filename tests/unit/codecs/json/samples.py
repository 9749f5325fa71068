"""Codecs and values for the tests of JSON."""

from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.codec import Decoded, Found, Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION, JsonCodec, bind
from lakestream.contract.codecs.json.inference import grown_by_unknown, wanted_from_unknown
from lakestream.contract.columns.layout import Layout

WRITER = Writer(number=0, format="json", codec=CODEC_VERSION, framed=False)


def layout_of(kinds: Mapping[str, Found]) -> Layout:
    return Layout().merged(wanted_from_unknown(dict(kinds), Layout()))


def codec_of(kinds: Mapping[str, Found], *, declared: bool = False) -> JsonCodec:
    return bind(WRITER, layout_of(kinds), declared=declared)


def learned(rows: Sequence[bytes], layout: Layout | None = None) -> Layout:
    """With columns for all keys of these rows."""
    before = Layout() if layout is None else layout
    return grown_by_unknown(bind(WRITER, before).decode(binary(rows)).unknown, before)


def binary(rows: Sequence[bytes]) -> pa.BinaryArray:
    return pa.array(list(rows), pa.binary())


def replayed(codec: JsonCodec, decoded: Decoded) -> dict[int, bytes]:
    """By row: what comes back of the exact rows, from a codec that knows only what a file keeps."""
    rows = np.flatnonzero(decoded.exact)
    reader = copy(codec)
    reader.shapes = list(codec.shapes)
    assert decoded.shapes is not None
    encoded = reader.encode(decoded.columns.take(pa.array(rows)), decoded.shapes[rows])
    return dict(zip(rows.tolist(), encoded.to_pylist(), strict=True))

"""Restates values: the same content in the form that columns give back. For topics that waive their exact bytes.

    not exact -> written again by its format's rules -> decoded again -> exact now: columns alone, no bytes
                                                                      -> still not: its bytes are kept after all

    Avro      from the columns: lists in one block, numbers in as few bytes as hold them
    JSON      keys in their order, numbers in their shortest form, no spaces (restating_json.py)
    Protobuf  by Protobuf's own library, which keeps fields that it does not know (restating_protobuf.py)

Only the spelling is lost. Content that the columns cannot hold (a field without a column, a number too large) is not
exact the second time either. Exact values, which most are, do not come here. The others are written many at a time, and
only as long as it helps.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, ValueCodec, Writer
from lakestream.contract.values.decoding.restating_json import json_anew
from lakestream.contract.values.decoding.restating_protobuf import ProtobufAnew

ROWS_AT_ONCE = 4_096
"""If none of so many rows comes out exact, the others keep their bytes untried: a producer is mostly odd in one way,
and useless work must end."""

Anew = Callable[[pa.BinaryArray], list[bytes | None]]
"""Writes the same contents again, many at once; None for a value that cannot be written."""


class _Part(NamedTuple):
    rows: NDArray[np.int64]
    again: Decoded


def restated(writer: Writer, codec: ValueCodec, values: pa.BinaryArray, decoded: Decoded) -> Decoded:
    """`decoded` with more exact rows. `values` are the decoded values, without frames."""
    is_odd = ~decoded.exact
    is_odd[decoded.errors.rows] = False
    odd = np.flatnonzero(is_odd)
    if not len(odd):
        return decoded
    anew = _anew(writer)
    parts: list[_Part] = []
    for start in range(0, len(odd), ROWS_AT_ONCE):
        rows = odd[start : start + ROWS_AT_ONCE]
        part = _from_columns(codec, rows, decoded) if anew is None else _from_values(codec, rows, values, anew)
        if part is None or not part.again.exact.any():
            break
        parts.append(part)
    return _joined(decoded, parts) if parts else decoded


def _anew(writer: Writer) -> Anew | None:
    """The function for the writer's format. None: its codec does it."""
    match writer.format:
        case "json":
            return json_anew
        case "protobuf":
            return ProtobufAnew(writer)
    return None


def _from_columns(codec: ValueCodec, rows: NDArray[np.int64], decoded: Decoded) -> _Part | None:
    try:
        return _Part(rows, codec.decode(codec.encode(decoded.columns.take(pa.array(rows)), None)))
    except ValueError:  # the columns lack a part of the schema
        return None


def _from_values(codec: ValueCodec, rows: NDArray[np.int64], values: pa.BinaryArray, anew: Anew) -> _Part | None:
    written = pa.array(anew(values.take(pa.array(rows))), pa.binary())
    could_be = written.is_valid().to_numpy(zero_copy_only=False)
    return _Part(rows[could_be], codec.decode(written.drop_null())) if could_be.any() else None


def _joined(decoded: Decoded, parts: list[_Part]) -> Decoded:
    rows = np.concatenate([part.rows for part in parts])
    good = np.flatnonzero(np.concatenate([part.again.exact for part in parts]))
    places = np.arange(len(decoded.exact))
    places[rows[good]] = len(places) + good
    exact = decoded.exact.copy()
    exact[rows[good]] = True
    shapes = None
    if decoded.shapes is not None:
        again = [part.again.shapes for part in parts if part.again.shapes is not None]
        shapes = np.concatenate([decoded.shapes, *again])[places]
    columns = pa.concat_batches([decoded.columns, *(part.again.columns for part in parts)]).take(pa.array(places))
    return decoded._replace(columns=columns, exact=exact, shapes=shapes)

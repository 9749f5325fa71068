"""Values restated: the same content in the form that columns give back. For topics that waive their exact bytes.

    not exact -> written anew by its format's rules -> decoded again -> exact now: columns alone, no bytes
                                                                     -> still not: its bytes are kept after all

    Avro      from the columns: lists in one block, numbers in as few bytes as hold them
    JSON      keys in their order, numbers in their shortest form, no spaces. A value that has a key twice, or a number
              of more digits than a double has, is left alone
    Protobuf  by Protobuf's own library, which keeps fields that it does not know

Nothing is lost but the spelling. What the columns have no place for (a field without a column, a number too large) does
not come out exact the second time either. Values that are exact, which most are, do not come here; the others are
written one by one.
"""

import base64
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf import descriptor_pb2, message_factory  # type: ignore[import-untyped]
from google.protobuf.descriptor_pool import DescriptorPool  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Codec, Decoded, Writer
from lakestream.contract.codecs.protobuf.prefix import prefixes

Restate = Callable[[bytes], bytes | None]
"""The same content, or None where that cannot be said."""


def restated(writer: Writer, codec: Codec, values: pa.BinaryArray, decoded: Decoded) -> Decoded:
    """`decoded` with more exact rows. `values`: without frame, as they were decoded."""
    is_odd = ~decoded.exact
    is_odd[decoded.errors.rows] = False
    odd = np.flatnonzero(is_odd)
    if not len(odd):
        return decoded
    rows, anew = _written_anew(writer, codec, values, odd, decoded)
    return _joined(decoded, rows, codec.decode(anew)) if len(rows) else decoded


def _written_anew(
    writer: Writer, codec: Codec, values: pa.BinaryArray, odd: NDArray[np.int64], decoded: Decoded
) -> tuple[NDArray[np.int64], pa.BinaryArray]:
    """(those rows that could be, their values)"""
    if writer.format == "avro":
        try:
            return odd, codec.encode(decoded.columns.take(pa.array(odd)), None)
        except ValueError:  # the columns lack a part of the schema
            return odd[:0], pa.array([], pa.binary())
    restate = _json if writer.format == "json" else _protobuf(writer)
    found = [(row, anew) for row in odd.tolist() if (anew := restate(values[row].as_py())) is not None]
    return np.array([row for row, _ in found], np.int64), pa.array([anew for _, anew in found], pa.binary())


def _joined(decoded: Decoded, rows: NDArray[np.int64], again: Decoded) -> Decoded:
    good = np.flatnonzero(again.exact)
    if not len(good):
        return decoded
    places = np.arange(len(decoded.exact))
    places[rows[good]] = len(places) + good
    exact = decoded.exact.copy()
    exact[rows[good]] = True
    shapes = None
    if decoded.shapes is not None and again.shapes is not None:
        shapes = np.concatenate([decoded.shapes, again.shapes])[places]
    columns = pa.concat_batches([decoded.columns, again.columns]).take(pa.array(places))
    return decoded._replace(columns=columns, exact=exact, shapes=shapes)


def _json(value: bytes) -> bytes | None:
    try:
        content = json.loads(value, object_pairs_hook=_object, parse_float=_number)
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key is there twice")
    return content


def _number(text: str) -> float:
    number = float(text)
    if Decimal(text) != Decimal(repr(number)):
        raise ValueError("a number has more digits than a double")
    return number


def _protobuf(writer: Writer) -> Restate:
    pool = DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(writer.schema)).file:
        pool.AddSerializedFile(file.SerializeToString())
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(writer.message))
    own, *others = _prefixes(writer)

    def restate(value: bytes) -> bytes | None:
        prefix = next((one for one in (own, *others) if value.startswith(one)), None)
        if prefix is None:
            return None
        try:
            message = kind.FromString(value[len(prefix) :])
        except DecodeError:
            return None
        return own + bytes(message.SerializePartialToString(deterministic=True))

    return restate


def _prefixes(writer: Writer) -> Iterator[bytes]:
    """What stands before a message: the way it is written, then the other way."""
    own, other = prefixes(writer.indexes) if writer.framed else (np.empty(0, np.uint8), np.empty(0, np.uint8))
    yield own.tobytes()
    if len(other):
        yield other.tobytes()

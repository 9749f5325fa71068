"""Reads Avro container files, and writes them from rows that are already encoded.

    "Obj" 1 | metadata: schema, codec, ... | sync marker | rows, bytes, rows compressed, sync marker

Manifests mostly consist of entries from other manifests. Keeping entries as bytes and framing them here turns merging
of manifests into copying.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import fastavro

from lakestream.catalog.spec.values import Json
from lakestream.model.table_errors import DamagedTable
from lakestream.world.objects.store import Buffer

_MAGIC = b"Obj\x01"
_LEVEL = 1
"""Entries of one table are much alike: higher levels cost twice the time for a tenth of the size."""
_RAW_DEFLATE = -15
_MARKER_BYTES = 16
_LONGS_KEPT = 8192
"""Ids of columns, counts of rows, lengths of texts: most numbers recur with the next file."""


def avro_file(schema: str, rows: Sequence[bytes], about: Mapping[str, str]) -> bytes:
    """`schema` is JSON; `rows` are encoded by it."""
    start = _start({"avro.schema": schema, "avro.codec": "deflate", **about})
    marker = hashlib.sha256(start).digest()[:_MARKER_BYTES]
    if not rows:
        return start + marker
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW_DEFLATE)
    packed = packer.compress(b"".join(rows)) + packer.flush()
    return b"".join((start, marker, long_bytes(len(rows)), long_bytes(len(packed)), packed, marker))


def avro_rows(content: Buffer, location: str) -> list[Json]:
    """The rows with Avro's own values: days and microseconds as numbers, of any size. Raises DamagedTable."""
    try:
        return list(fastavro.reader(io.BytesIO(_without_logical_types(content))))  # type: ignore[arg-type]
    except Exception as error:  # fastavro raises whatever damaged bytes lead it to
        raise DamagedTable(f"{location} cannot be read ({error}): restore it from a backup of the bucket") from error


def _start(about: Mapping[str, str]) -> bytes:
    """Everything before the first marker."""
    entries = b"".join(text_bytes(name) + text_bytes(value) for name, value in about.items())
    return _MAGIC + long_bytes(len(about)) + entries + long_bytes(0)


def _without_logical_types(content: Buffer) -> bytes:
    """The same file without logical types: Python's dates, which fastavro would make, end with the year 9999."""
    source = io.BytesIO(content)
    about = fastavro.reader(source).metadata
    schema = schema_text(_plain(json.loads(about["avro.schema"])))
    return _start({**about, "avro.schema": schema}) + bytes(content[source.tell() - _MARKER_BYTES :])


def _plain(schema: Any) -> Any:
    match schema:
        case dict():
            return {name: _plain(part) for name, part in schema.items() if name != "logicalType"}
        case list():
            return [_plain(part) for part in schema]
    return schema


def schema_text(schema: Json) -> str:
    return json.dumps(schema, separators=(",", ":"))


@lru_cache(maxsize=_LONGS_KEPT)
def long_bytes(value: int) -> bytes:
    """An integer in Avro's encoding: zigzag, then seven bits a byte."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(0x80 | (value & 0x7F))
        value >>= 7
    out.append(value)
    return bytes(out)


def optional_long(value: int | None) -> bytes:
    """A union of null and long."""
    return b"\x00" if value is None else b"\x02" + long_bytes(value)


def bytes_bytes(value: bytes) -> bytes:
    """Bytes in Avro's encoding, after their length."""
    return long_bytes(len(value)) + value


def text_bytes(value: str) -> bytes:
    return bytes_bytes(value.encode())

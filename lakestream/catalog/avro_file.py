"""Avro container files, written from rows that are already bytes, and read.

    "Obj" 1 | metadata: schema, codec, ... | sync marker | rows, bytes, rows compressed, sync marker

Manifests are mostly made of entries that stood in other manifests before. Keeping entries as bytes and framing them
here makes rolling manifests together a matter of copying.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

import fastavro

from lakestream.catalog.values import Json
from lakestream.model.table_errors import DamagedTable
from lakestream.world.objects.store import Buffer

_MAGIC = b"Obj\x01"
_LEVEL = 1
"""Entries of one table are much alike: higher levels cost twice the time for a tenth of the size."""
_RAW_DEFLATE = -15
_LONGS_KEPT = 8192
"""Ids of columns, counts of rows, lengths of texts: most numbers come again with the next file."""


def avro_file(schema: str, rows: Sequence[bytes], about: Mapping[str, str]) -> bytes:
    """`schema` as JSON; `rows` encoded by it."""
    header = {"avro.schema": schema, "avro.codec": "deflate", **about}
    entries = b"".join(text_bytes(name) + text_bytes(value) for name, value in header.items())
    start = _MAGIC + long_bytes(len(header)) + entries + long_bytes(0)
    marker = hashlib.sha256(start).digest()[:16]
    if not rows:
        return start + marker
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW_DEFLATE)
    packed = packer.compress(b"".join(rows)) + packer.flush()
    return b"".join((start, marker, long_bytes(len(rows)), long_bytes(len(packed)), packed, marker))


def avro_rows(content: Buffer, location: str) -> list[Json]:
    """Raises DamagedTable."""
    try:
        return list(fastavro.reader(io.BytesIO(content)))  # type: ignore[arg-type]
    except Exception as error:  # fastavro raises whatever damaged bytes lead it to
        raise DamagedTable(f"{location} cannot be read ({error}): restore it from a backup of the bucket") from error


def schema_text(schema: Json) -> str:
    return json.dumps(schema, separators=(",", ":"))


@lru_cache(maxsize=_LONGS_KEPT)
def long_bytes(value: int) -> bytes:
    """A whole number as Avro writes it: zigzag, then seven bits a byte."""
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
    """Bytes as Avro writes them, after their length."""
    return long_bytes(len(value)) + value


def text_bytes(value: str) -> bytes:
    return bytes_bytes(value.encode())

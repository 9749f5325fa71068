"""Metadata files: name, write and read them, and choose the old ones to delete.

    base file 00007-<uuid>.metadata.json  +  next metadata  ->  00008-<uuid>.metadata.json, base entered in its log

A metadata file is written first and pointed to afterwards, by compare and set. A crash in between leaves a file that
nothing refers to, never a torn table. Files are never changed, so files that were read are cached, within a bound.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from lakestream.catalog.files.commit_names import numbered, version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.recently_used import RecentlyUsed
from lakestream.catalog.spec.strict_json import read_json
from lakestream.catalog.spec.values import Metadata
from lakestream.model.table_errors import DamagedTable, InvalidTableChange
from lakestream.world.ids import Ids
from lakestream.world.objects.store import Buffer

PREVIOUS_VERSIONS_MAX = "write.metadata.previous-versions-max"
DELETE_AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
COMPRESSION = "write.metadata.compression-codec"
METADATA_PATH = "write.metadata.path"
_PREVIOUS_VERSIONS_DEFAULT = 100
_ENCODING = "utf-8"
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LEVEL = 1
"""Snapshots resemble each other so much that level 6 takes two and a half times as long to save another eighth."""
_UNPACKED_BYTES_MAX = 512 * 1024 * 1024
"""A few kilobytes from a client may unpack to any size. No table comes near this limit."""
_PACKED_END = ".gz.metadata.json"
_NAME_ENDS = {"none": ".metadata.json", "gzip": _PACKED_END}
"""File name endings, by the compression that a table asks for."""
_KEPT_BYTES_MAX = 64 * 1024 * 1024
"""Most bytes of cached metadata files, by their length as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextVersion:
    """The output of a commit: metadata, its location, and the earlier metadata files that it makes superfluous."""

    metadata: Metadata
    location: str
    superfluous: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetadataFile:
    location: str
    json: bytes
    metadata: Metadata


def next_version(
    base: Metadata, base_location: str, changed: Metadata, *, uuid: str, folder: str | None = None
) -> NextVersion:
    """`changed` with its history added. `uuid` makes the file's name unique; `folder`: see file_location. Pure."""
    log = [
        *(base.get("metadata-log") or []),
        {"timestamp-ms": base["last-updated-ms"], "metadata-file": base_location},
    ]
    kept = log[-_previous_versions_max(changed) :]
    metadata = {**changed, "metadata-log": kept}
    superfluous = log[: len(log) - len(kept)] if _flag(metadata, DELETE_AFTER_COMMIT) else []
    return NextVersion(
        metadata=metadata,
        location=file_location(metadata, version=version_of(base_location) + 1, uuid=uuid, folder=folder),
        superfluous=tuple(entry["metadata-file"] for entry in superfluous),
    )


def file_location(metadata: Metadata, *, version: int, uuid: str, folder: str | None = None) -> str:
    """The location of a metadata file: below `folder`, or else in the folder that the table's own properties name."""
    properties = metadata.get("properties") or {}
    folder = folder or properties.get(METADATA_PATH, "").rstrip("/") or f"{metadata['location']}/metadata"
    return f"{folder}/{numbered(version)}-{uuid}{_name_end(properties)}"


def _name_end(properties: Mapping[str, str]) -> str:
    asked = properties.get(COMPRESSION, "none")
    if (end := _NAME_ENDS.get(asked.lower())) is None:
        raise InvalidTableChange(f"{COMPRESSION} must be one of {', '.join(_NAME_ENDS)}, not '{asked}'")
    return end


def encode_metadata(metadata: Metadata) -> bytes:
    return json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode(_ENCODING)


def decode_metadata(content: Buffer, location: str, *, parse: Callable[[str], Any] = json.loads) -> MetadataFile:
    """`parse` turns its JSON into values. Raises DamagedTable."""
    try:
        text = _unpacked(content) if bytes(content[:2]) == _GZIP_MAGIC else bytes(content)
        encoding = json.detect_encoding(text)
        metadata = parse(text.decode(encoding))
        if encoding != _ENCODING:
            text = encode_metadata(metadata)  # Java reads others too; answers, which contain it, are UTF-8
    except (ValueError, RecursionError, EOFError, OSError, zlib.error) as error:
        raise DamagedTable(f"{location} is no metadata file ({error}): restore it from a backup") from error
    if not isinstance(metadata, dict) or "format-version" not in metadata or "location" not in metadata:
        raise DamagedTable(f"{location} is no metadata file: it has no format version or no location")
    return MetadataFile(location, text, metadata)


class MetadataFiles:
    """Reads and writes metadata files, and caches recent ones."""

    def __init__(self, objects: TableObjects, *, ids: Ids) -> None:
        self._objects = objects
        self._ids = ids
        self._kept: RecentlyUsed[MetadataFile] = RecentlyUsed(
            bytes_max=_KEPT_BYTES_MAX, weigh=lambda file: len(file.json)
        )

    async def read(self, location: str) -> MetadataFile:
        """Raises DamagedTable, InvalidLocation."""
        if (kept := self._kept.get(location)) is not None:
            return kept
        file = decode_metadata(await self._objects.read(location), location)
        self._kept.keep(location, file)
        return file

    async def read_present(self, location: str) -> MetadataFile:
        """Like `read`, but a file that others deleted is missing, even if it is in memory. Raises MissingTableFile."""
        if self._kept.get(location) is not None and not await self._objects.exists(location):
            self._kept.drop(location)
        return await self.read(location)

    async def read_offered(self, location: str) -> MetadataFile:
        """Read a client's metadata file. Raises InvalidTableChange if it is not one, and InvalidLocation."""
        self._kept.drop(location)  # other writers may have deleted or overwritten it, which we never do
        try:
            content = await self._objects.read(location)
            file = decode_metadata(content, location, parse=partial(read_json, what=location))
        except DamagedTable as error:
            raise InvalidTableChange(f"there is no metadata file at {location}: check the location") from error
        self._kept.keep(location, file)
        return file

    async def write_first(self, metadata: Metadata, *, folder: str | None = None) -> str:
        """Write the first metadata of a new table or view. Returns its location."""
        location = file_location(metadata, version=0, uuid=self._ids.uuid(), folder=folder)
        await self._write(location, metadata)
        return location

    async def write_next(self, base: MetadataFile, changed: Metadata, *, folder: str | None = None) -> NextVersion:
        next = next_version(base.metadata, base.location, changed, uuid=self._ids.uuid(), folder=folder)
        await self._write(next.location, next.metadata)
        return next

    async def write_after(self, base: MetadataFile, changed: Metadata) -> str:
        """For views, whose files keep no log of earlier files."""
        location = file_location(changed, version=version_of(base.location) + 1, uuid=self._ids.uuid())
        await self._write(location, changed)
        return location

    def forget(self, location: str) -> None:
        """Drop this version from memory, since the table has moved on. It can still be read from the store."""
        self._kept.drop(location)

    async def delete(self, locations: tuple[str, ...]) -> None:
        for location in locations:
            self._kept.drop(location)
        await self._objects.delete(locations)

    async def _write(self, location: str, metadata: Metadata) -> None:
        text = encode_metadata(metadata)
        packed = location.endswith(_PACKED_END)
        await self._objects.write(location, gzip.compress(text, _GZIP_LEVEL, mtime=0) if packed else text)
        self._kept.keep(location, MetadataFile(location, text, metadata))


def _unpacked(content: Buffer) -> bytes:
    """All gzip members. Raises EOFError, OSError or zlib.error if damaged, ValueError if too large."""
    text = gzip.GzipFile(fileobj=BytesIO(content)).read(_UNPACKED_BYTES_MAX + 1)
    if len(text) > _UNPACKED_BYTES_MAX:
        raise ValueError(f"it has more than {_UNPACKED_BYTES_MAX >> 20} MiB")
    return text


def _previous_versions_max(metadata: Metadata) -> int:
    asked = (metadata.get("properties") or {}).get(PREVIOUS_VERSIONS_MAX, str(_PREVIOUS_VERSIONS_DEFAULT))
    try:
        return max(1, int(asked))
    except ValueError:
        raise InvalidTableChange(f"{PREVIOUS_VERSIONS_MAX} must be a whole number, not '{asked}'") from None


def _flag(metadata: Metadata, name: str) -> bool:
    return str((metadata.get("properties") or {}).get(name, "false")).lower() == "true"

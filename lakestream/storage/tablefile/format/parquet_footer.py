"""The footer of any Parquet file, whoever wrote it: its own metadata, found at its end."""

from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.world.objects.store import Buffer

FOOTER_BYTES_MAX = 64 * 1024 * 1024
_MAGIC = b"PAR1"
_ENDING_BYTES = 8


class FileEnds(Protocol):
    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]: ...


async def parquet_metadata(objects: FileEnds, path: str, first_bytes: int) -> pq.FileMetaData:
    """Mostly one GET of `first_bytes`; a second one for a longer footer. Raises MalformedTableFile, ObjectMissing."""
    tail, size = await objects.get_tail(path, first_bytes)
    ending = bytes(memoryview(tail)[-_ENDING_BYTES:])
    length = int.from_bytes(ending[:4], "little") + _ENDING_BYTES
    if ending[4:] != _MAGIC or length > min(size, FOOTER_BYTES_MAX):
        raise MalformedTableFile(f"{path} does not end as a Parquet file: write data files of tables as Parquet")
    if length > len(tail):
        tail, _ = await objects.get_tail(path, length)
    try:
        return pq.read_metadata(pa.BufferReader(pa.py_buffer(memoryview(tail)[-length:])))
    except (pa.ArrowException, OSError) as error:
        raise MalformedTableFile(f"{path} has a damaged footer: {error}") from error

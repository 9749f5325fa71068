"""The results of a segment's batches as its row keeps them, until a later segment's footer carries them.

    version (1 byte) = 1, then per batch: status (2) base_offset (8) append_ms (8) log_start (8)    big-endian

Both stores keep these bytes: SQLite writes them here, PostgreSQL inside its commit function.
"""

import struct
from collections.abc import Sequence

from lakestream.model.errors import Corrupt
from lakestream.model.segment import BatchResult, BatchStatus

_VERSION = 1
_RESULT = struct.Struct(">hqqq")
_STATUSES = {int(status): status for status in BatchStatus}


def encode_results(results: Sequence[BatchResult]) -> bytes:
    return bytes([_VERSION]) + b"".join([_RESULT.pack(*result) for result in results])


def decode_results(kept: bytes) -> tuple[BatchResult, ...]:
    if not kept or kept[0] != _VERSION or (len(kept) - 1) % _RESULT.size:
        raise Corrupt(
            "the results kept in a segment row are not readable: restore the metadata store from a backup, "
            "or run the version of Lakestream that wrote them"
        )
    return tuple(
        BatchResult(_STATUSES[status], base_offset, append_ms, log_start)
        for status, base_offset, append_ms, log_start in _RESULT.iter_unpack(memoryview(kept)[1:])
    )

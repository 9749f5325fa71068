"""Which key belongs to which column: a hash table for the kernels. A column is also found by the keys it once had."""

from collections.abc import Sequence

import numpy as np

from lakestream.contract.codecs.json.kernels import Keys, text_hash
from lakestream.contract.columns.column import Column


class ColumnKeys:
    def __init__(self, columns: Sequence[Column]) -> None:
        owners = _owners(columns)
        texts = [key.encode("utf-8", "surrogatepass") for key in owners]
        self._text = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
        lengths = np.array([len(text) for text in texts], np.int64)
        starts = self._text.ctypes.data + np.cumsum(lengths) - lengths
        hashes = [text_hash(int(start), int(length)) for start, length in zip(starts, lengths, strict=True)]
        self._slots = _slots(hashes)
        self._table = np.array([starts, lengths, list(owners.values())], np.int64)
        self.table = Keys(self._slots.ctypes.data, len(self._slots), *(row.ctypes.data for row in self._table))


def _owners(columns: Sequence[Column]) -> dict[str, int]:
    """What a column is called now goes before what another was called once."""
    owners = {column.keys[0]: number for number, column in enumerate(columns)}
    for number, column in enumerate(columns):
        for key in column.keys[1:]:
            owners.setdefault(key, number)
    return owners


def _slots(hashes: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """At most half full, so that every search ends."""
    size = 8
    while size < 2 * len(hashes) + 1:
        size *= 2
    slots = np.full(size, -1, np.int32)
    for number, hashed in enumerate(hashes):
        slot = hashed & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = number
    return slots

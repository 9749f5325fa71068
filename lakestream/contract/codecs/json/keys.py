"""Maps keys to columns, for each object: a hash table for the kernels.

Former keys of a column lead to it as well.
"""

from collections.abc import Sequence

import numpy as np

from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.finding import text_hash
from lakestream.contract.codecs.json.kernels.kinds import ELEMENT
from lakestream.contract.codecs.json.kernels.views import Keys
from lakestream.contract.codecs.json.slots import Slot

_Place = tuple[int, str]
"""The struct that holds the key, and the key."""


class ColumnKeys:
    def __init__(self, slots: Sequence[Slot]) -> None:
        owners = _owners(slots)
        contexts = np.array([context for context, _ in owners], np.int64)
        texts = [key.encode("utf-8", "surrogatepass") for _, key in owners]
        self._text = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
        lengths = np.array([len(text) for text in texts], np.int64)
        starts = self._text.ctypes.data + np.cumsum(lengths) - lengths
        places = zip(contexts, starts, lengths, strict=True)
        self._slots = _slots([text_hash(int(context), int(start), int(length)) for context, start, length in places])
        self._table = np.array([contexts, starts, lengths, list(owners.values())], np.int64)
        self.table = Keys(self._slots.ctypes.data, len(self._slots), *(row.ctypes.data for row in self._table))


def _owners(slots: Sequence[Slot]) -> dict[_Place, int]:
    """The slot of each key. A column's current key takes precedence over a former key of another."""
    keyed = [(number, slot) for number, slot in enumerate(slots) if slot.parent != ELEMENT and slot.kind != kinds.REST]
    owners = {(slot.parent, slot.column.keys[0]): number for number, slot in keyed}
    for number, slot in keyed:
        for key in slot.column.keys[1:]:
            owners.setdefault((slot.parent, key), number)
    return owners


def _slots(hashes: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """The hash table, at most half full, so that every search ends."""
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

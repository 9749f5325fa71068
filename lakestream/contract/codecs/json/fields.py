"""The table of columns for the kernels: addresses, with an entry for every slot."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.views import Fields
from lakestream.contract.codecs.json.slots import Slot

Array: TypeAlias = NDArray[Any]

NUMBERS = {kinds.INT: np.int32, kinds.LONG: np.int64, kinds.DOUBLE: np.float64}
TEXTS = (kinds.STRING, kinds.TEXT, kinds.REST, kinds.OBJECT)


class FieldTable:
    """Keeps alive the table that `fields` points to, but not the buffers."""

    def __init__(
        self,
        slots: Sequence[Slot],
        *,
        values: Sequence[int],
        lengths: Sequence[int],
        valid: Sequence[int],
        first_bits: Sequence[int],
    ) -> None:
        held = [slot.kind for slot in slots]
        parents = [slot.parent for slot in slots]
        depths = [slot.depth for slot in slots]
        elements = [slot.element for slot in slots]
        self._table = np.array([held, values, lengths, valid, first_bits, parents, depths, elements], np.int64)
        rows: list[int] = [row.ctypes.data for row in self._table]
        self.fields = Fields(
            columns=len(slots),
            kind=rows[0],
            values=rows[1],
            lengths=rows[2],
            valid=rows[3],
            first_bit=rows[4],
            parent=rows[5],
            depth=rows[6],
            element=rows[7],
            rest=_rest(slots),
        )


def bitmap_bytes(bits: int) -> int:
    return (bits + 7) // 8


def _rest(slots: Sequence[Slot]) -> int:
    return next((number for number, slot in enumerate(slots) if slot.kind == kinds.REST), -1)

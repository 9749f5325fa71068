"""Columns as the kernels see them: a table of addresses, with a place for every slot."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.codecs.json import kernels
from lakestream.contract.codecs.json.kernels import Fields
from lakestream.contract.codecs.json.slots import Slot

Array: TypeAlias = NDArray[Any]

NUMBERS = {kernels.INT: np.int32, kernels.LONG: np.int64, kernels.DOUBLE: np.float64}
TEXTS = (kernels.STRING, kernels.TEXT, kernels.REST)


class FieldTable:
    """Keeps the table alive that `fields` leads to, but not the buffers."""

    def __init__(
        self,
        slots: Sequence[Slot],
        *,
        values: Sequence[int],
        lengths: Sequence[int],
        valid: Sequence[int],
        first_bits: Sequence[int],
    ) -> None:
        kinds = [slot.kind for slot in slots]
        parents = [slot.parent for slot in slots]
        depths = [slot.depth for slot in slots]
        elements = [slot.element for slot in slots]
        self._table = np.array([kinds, values, lengths, valid, first_bits, parents, depths, elements], np.int64)
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
            rest=_rest(kinds),
        )


def bitmap_bytes(bits: int) -> int:
    return (bits + 7) // 8


def _rest(kinds: Sequence[int]) -> int:
    return kinds.index(kernels.REST) if kernels.REST in kinds else -1

"""The kernel's notes of one decode (everything it writes besides columns), and their translation to Python values."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.json.kernels import kinds, styles
from lakestream.contract.codecs.json.kernels.gathering import find_objects
from lakestream.contract.codecs.json.kernels.number_writing import NUMBER_BYTES_MAX
from lakestream.contract.codecs.json.kernels.styles import END, LISTS
from lakestream.contract.codecs.json.kernels.views import (
    ARRAYS,
    ARRAYS_MAX,
    LEFT,
    OPENS,
    STATES,
    TOKENS,
    UNKNOWN,
    UNKNOWN_MAX,
    UNKNOWN_SLOTS,
    Source,
    Work,
)
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.codecs.json.template import Opening, TemplatePart
from lakestream.contract.codecs.json.texts import gathered
from lakestream.contract.codecs.json.unknown import UnknownKey

_SCRATCH_BYTES = 4096
_SCRATCH_TIMES = 12
"""The factor by which an encode that does not give the bytes back may lengthen a row: one digit to \\u00xx, twice."""
_SCRATCH_TOKEN_BYTES = NUMBER_BYTES_MAX

_FIRST_STYLES = {
    kinds.BOOLEAN: styles.BOOLEAN,
    kinds.INT: styles.WHOLE,
    kinds.LONG: styles.WHOLE,
    kinds.DOUBLE: styles.SHORT_WITH_POINT,
    kinds.STRING: styles.PLAIN,
    kinds.TEXT: styles.RAW,
    kinds.NOTHING: styles.NULL,
    kinds.STRUCT: styles.NULL,
    kinds.REST: styles.UNSTYLED,
    kinds.OBJECT: styles.RAW,
}


def source_of(values: pa.BinaryArray) -> Source:
    _, offsets, text = values.buffers()
    if len(values) == 0 or offsets is None:
        return Source(address=0, offsets=_read_only(np.zeros(len(values) + 1, np.int32)))
    around = np.frombuffer(offsets, np.int32, len(values) + 1, values.offset * 4)
    return Source(address=int(text.address) if text is not None else 0, offsets=_read_only(around))


def bytes_of(source: Source) -> int:
    return int(source.offsets[-1]) - int(source.offsets[0])


class Notes:
    """Buffers for everything that the kernel notes while it decodes."""

    def __init__(self, source: Source, slots: Sequence[Slot], hint: NDArray[np.int64]) -> None:
        rows, columns = len(source.offsets) - 1, len(slots)
        lengths = np.diff(source.offsets)
        longest = int(lengths.max()) if rows else 0
        self._slots = slots
        self._arena = np.empty(bytes_of(source) + 8, np.uint8)
        has_rest = any(slot.kind == kinds.REST for slot in slots)
        self._rest_arena = np.empty(bytes_of(source) if has_rest else 0, np.uint8)
        scratch_bytes = _SCRATCH_BYTES + _SCRATCH_TIMES * longest + _SCRATCH_TOKEN_BYTES * (columns + 1)
        self._scratch = np.empty(scratch_bytes, np.uint8)
        self._hint = hint
        self._unknown_slots = np.full(UNKNOWN_SLOTS, -1, np.int32)
        self._unknown = np.zeros((3, UNKNOWN_MAX), np.int64)
        self.arrays = Work(
            arena=self._arena,
            rest_arena=self._rest_arena,
            scratch=self._scratch,
            scratch_end=self._scratch,
            state=np.zeros(STATES, np.int64),
            hint=hint,
            seen=np.zeros(columns, np.int64),
            token_at=np.zeros(columns + 1, np.int64),
            token_length=np.zeros(columns + 1, np.int64),
            token_style=np.zeros(columns + 1, np.int64),
            token_column=np.zeros(columns + 1, np.int64),
            open_at=np.zeros(columns + 1, np.int64),
            open_column=np.zeros(columns + 1, np.int64),
            unknown_slots=self._unknown_slots,
            unknown_context=self._unknown[0],
            unknown_address=self._unknown[1],
            unknown_length=self._unknown[2],
            unknown_kinds=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_depth=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_count=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_seen=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now_kind=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now_at=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now_end=np.zeros(UNKNOWN_MAX, np.int64),
            array_unknown=np.zeros(ARRAYS_MAX, np.int64),
            array_at=np.zeros(ARRAYS_MAX, np.int64),
            array_end=np.zeros(ARRAYS_MAX, np.int64),
            shape=np.full(rows, -1, np.int32),
            exact=np.zeros(rows, np.bool_),
            fault=np.zeros(rows, np.int8),
            fault_at=np.zeros(rows, np.int32),
            fault_column=np.zeros(rows, np.int32),
        )
        addresses = Work(*(array.ctypes.data for array in self.arrays))
        self.work = addresses._replace(scratch_end=addresses.scratch + scratch_bytes)
        """The addresses that the kernels get."""

    def left_tree_at(self) -> int:
        return int(self.arrays.state[LEFT])

    def tokens(self) -> list[TemplatePart]:
        """The tokens, beyond the tree, of the row that asks for a new shape."""
        return [self._token(n) for n in range(int(self.arrays.state[TOKENS]))]

    def _token(self, n: int) -> TemplatePart:
        work = self.arrays
        start, length, style = int(work.token_at[n]), int(work.token_length[n]), int(work.token_style[n])
        opens = tuple(
            Opening(int(work.open_at[k]) - start, self._slots[work.open_column[k]].column.id)
            for k in range(int(work.state[OPENS]))
            if start <= work.open_at[k] < start + length
        )
        column_id = 0 if style == END else self._slots[work.token_column[n]].column.id
        return TemplatePart(_bytes_at(start, length), style, column_id, opens)

    def unknown_keys(self) -> list[UnknownKey]:
        """Keys that no column has, in order of appearance."""
        work = self.arrays
        contexts, addresses, lengths = self._unknown
        return [
            UnknownKey(
                key=_bytes_at(int(addresses[n]), int(lengths[n])).decode(),
                context=int(contexts[n]),
                kinds=int(work.unknown_kinds[n]),
                times=int(work.unknown_count[n]),
            )
            for n in range(int(work.state[UNKNOWN]))
        ]

    def objects_of(self, number: int) -> pa.BinaryArray:
        """The objects in the arrays of an unknown key, as far as the kernel noted them."""
        noted = int(self.arrays.state[ARRAYS])
        own = np.flatnonzero(self.arrays.array_unknown[:noted] == number)
        starts, ends = self.arrays.array_at[own], self.arrays.array_end[own]
        room = int((ends - starts).sum()) // 2
        addresses, lengths = np.empty(room, np.int64), np.empty(room, np.int32)
        count = find_objects(starts, ends, addresses, lengths)
        return gathered(pa.binary(), addresses[:count], lengths[:count])


def fresh_hints(slots: Sequence[Slot]) -> NDArray[np.int64]:
    """The styles that a codec expects before it has seen a value."""
    return np.array([_first_style(slot, slots) for slot in slots], np.int64)


def _first_style(slot: Slot, slots: Sequence[Slot]) -> int:
    return LISTS + _FIRST_STYLES[slots[slot.element].kind] if slot.kind == kinds.LIST else _FIRST_STYLES[slot.kind]


def _bytes_at(address: int, length: int) -> bytes:
    return pa.foreign_buffer(address, length).to_pybytes() if length else b""


def _read_only(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array.flags.writeable = False
    return array

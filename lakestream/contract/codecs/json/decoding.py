"""A decode: what the kernel writes besides columns, and what people read of it."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json import kernels, styles
from lakestream.contract.codecs.json.kernels import UNKNOWN_MAX, UNKNOWN_SLOTS, Source, Work
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.codecs.json.styles import END, LISTS
from lakestream.contract.codecs.json.template import Opening, Token
from lakestream.contract.codecs.json.unknown import UnknownKey, found_in

_SCRATCH_BYTES = 4096
_SCRATCH_TIMES = 12
"""A row's bytes grow at most so much by an encode that does not give them back: one digit to \\u00xx, twice."""
_SCRATCH_TOKEN_BYTES = kernels.NUMBER_BYTES_MAX

_FIRST_STYLES = {
    kernels.BOOLEAN: styles.BOOLEAN,
    kernels.INT: styles.WHOLE,
    kernels.LONG: styles.WHOLE,
    kernels.DOUBLE: styles.SHORT_WITH_POINT,
    kernels.STRING: styles.PLAIN,
    kernels.TEXT: styles.RAW,
    kernels.NOTHING: styles.NULL,
    kernels.STRUCT: styles.NULL,
    kernels.REST: styles.UNSTYLED,
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
    """Room for all that the kernel notes while it decodes."""

    def __init__(self, source: Source, slots: Sequence[Slot], hint: NDArray[np.int64]) -> None:
        rows, columns = len(source.offsets) - 1, len(slots)
        lengths = np.diff(source.offsets)
        longest = int(lengths.max()) if rows else 0
        self._slots = slots
        self._arena = np.empty(bytes_of(source) + 8, np.uint8)
        has_rest = any(slot.kind == kernels.REST for slot in slots)
        self._rest_arena = np.empty(bytes_of(source) if has_rest else 0, np.uint8)
        scratch_bytes = _SCRATCH_BYTES + _SCRATCH_TIMES * longest + _SCRATCH_TOKEN_BYTES * (columns + 1)
        self._scratch = np.empty(scratch_bytes, np.uint8)
        self._hint = hint
        self._unknown_slots = np.full(UNKNOWN_SLOTS, -1, np.int32)
        self._unknown = np.zeros((3, UNKNOWN_MAX), np.int64)
        self.work = Work(
            arena=self._arena.ctypes.data,
            rest_arena=self._rest_arena.ctypes.data,
            scratch=self._scratch.ctypes.data,
            scratch_end=self._scratch.ctypes.data + scratch_bytes,
            state=np.zeros(kernels.STATES, np.int64),
            hint=hint.ctypes.data,
            seen=np.zeros(columns, np.int64),
            token_at=np.zeros(columns + 1, np.int64),
            token_length=np.zeros(columns + 1, np.int64),
            token_style=np.zeros(columns + 1, np.int64),
            token_column=np.zeros(columns + 1, np.int64),
            open_at=np.zeros(columns + 1, np.int64),
            open_column=np.zeros(columns + 1, np.int64),
            unknown_slots=self._unknown_slots.ctypes.data,
            unknown_context=self._unknown[0].ctypes.data,
            unknown_address=self._unknown[1].ctypes.data,
            unknown_length=self._unknown[2].ctypes.data,
            unknown_kinds=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_depth=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_count=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_seen=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now=np.zeros(UNKNOWN_MAX, np.int64),
            unknown_now_kind=np.zeros(UNKNOWN_MAX, np.int64),
            shape=np.full(rows, -1, np.int32),
            exact=np.zeros(rows, np.bool_),
            fault=np.zeros(rows, np.int8),
            fault_at=np.zeros(rows, np.int32),
            fault_column=np.zeros(rows, np.int32),
        )

    def left_tree_at(self) -> int:
        return int(self.work.state[kernels.LEFT])

    def tokens(self) -> list[Token]:
        """What the row that asks for a new shape has beyond the tree."""
        return [self._token(n) for n in range(int(self.work.state[kernels.TOKENS]))]

    def _token(self, n: int) -> Token:
        work = self.work
        start, length, style = int(work.token_at[n]), int(work.token_length[n]), int(work.token_style[n])
        opens = tuple(
            Opening(int(work.open_at[k]) - start, self._slots[work.open_column[k]].column.id)
            for k in range(int(work.state[kernels.OPENS]))
            if start <= work.open_at[k] < start + length
        )
        column_id = 0 if style == END else self._slots[work.token_column[n]].column.id
        return Token(_bytes_at(start, length), style, column_id, opens)

    def unknown(self) -> dict[str, Found]:
        """Keys that no column has, in the order in which they came; without those that were always null."""
        work = self.work
        contexts, addresses, lengths = self._unknown
        keys = [
            UnknownKey(
                key=_bytes_at(int(addresses[n]), int(lengths[n])).decode(),
                context=int(contexts[n]),
                kinds=int(work.unknown_kinds[n]),
                times=int(work.unknown_count[n]),
            )
            for n in range(int(work.state[kernels.UNKNOWN]))
        ]
        return found_in(keys, self._slots)


def fresh_hints(slots: Sequence[Slot]) -> NDArray[np.int64]:
    """The styles that a codec expects before it has seen a value."""
    return np.array([_first_style(slot, slots) for slot in slots], np.int64)


def _first_style(slot: Slot, slots: Sequence[Slot]) -> int:
    return LISTS + _FIRST_STYLES[slots[slot.element].kind] if slot.kind == kernels.LIST else _FIRST_STYLES[slot.kind]


def _bytes_at(address: int, length: int) -> bytes:
    return pa.foreign_buffer(address, length).to_pybytes() if length else b""


def _read_only(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array.flags.writeable = False
    return array

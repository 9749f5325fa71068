"""A decode: what the kernel writes besides columns, and what people read of it."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.json import kernels, styles
from lakestream.contract.codecs.json.kernels import UNKNOWN_MAX, UNKNOWN_SLOTS, Source, Work
from lakestream.contract.codecs.json.styles import END
from lakestream.contract.codecs.json.template import Token
from lakestream.contract.columns.json_text import JSON_TEXT
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LONG, STRING

UNKNOWN_TOLD_MAX = 1_000
"""More than a table may get of columns."""
_SCRATCH_BYTES = 4096
_SCRATCH_TIMES = 12
"""A row's bytes grow at most so much by an encode that does not give them back: one digit to \\u00xx, twice."""
_SCRATCH_TOKEN_BYTES = kernels.NUMBER_BYTES_MAX

_KINDS = {
    kernels.IS_LONG: LONG,
    kernels.IS_DOUBLE: DOUBLE,
    kernels.IS_LONG | kernels.IS_DOUBLE: DOUBLE,
    kernels.IS_BOOLEAN: BOOLEAN,
    kernels.IS_STRING: STRING,
}
"""Every other mixture is JSON text."""
_FIRST_STYLES = {
    kernels.BOOLEAN: styles.BOOLEAN,
    kernels.INT: styles.WHOLE,
    kernels.LONG: styles.WHOLE,
    kernels.DOUBLE: styles.SHORT_WITH_POINT,
    kernels.STRING: styles.PLAIN,
    kernels.TEXT: styles.RAW,
    kernels.NOTHING: styles.NULL,
}


def source_of(values: pa.BinaryArray) -> Source:
    _, offsets, text = values.buffers()
    if len(values) == 0 or offsets is None:
        return Source(address=0, offsets=_read_only(np.zeros(len(values) + 1, np.int32)))
    around = np.frombuffer(offsets, np.int32, len(values) + 1, values.offset * 4)
    return Source(address=int(text.address) if text is not None else 0, offsets=_read_only(around))


class Notes:
    """Room for all that the kernel notes while it decodes."""

    def __init__(self, source: Source, columns: int, hint: NDArray[np.int64]) -> None:
        rows = len(source.offsets) - 1
        lengths = np.diff(source.offsets)
        longest = int(lengths.max()) if rows else 0
        self._arena = np.empty(int(source.offsets[-1]) - int(source.offsets[0]) + 8, np.uint8)
        scratch_bytes = _SCRATCH_BYTES + _SCRATCH_TIMES * longest + _SCRATCH_TOKEN_BYTES * (columns + 1)
        self._scratch = np.empty(scratch_bytes, np.uint8)
        self._hint = hint
        self._unknown_slots = np.full(UNKNOWN_SLOTS, -1, np.int32)
        self._unknown = np.zeros((2, UNKNOWN_MAX), np.int64)
        self.work = Work(
            arena=self._arena.ctypes.data,
            scratch=self._scratch.ctypes.data,
            scratch_end=self._scratch.ctypes.data + scratch_bytes,
            state=np.zeros(kernels.STATES, np.int64),
            hint=hint.ctypes.data,
            seen=np.zeros(columns, np.int64),
            token_at=np.zeros(columns + 1, np.int64),
            token_length=np.zeros(columns + 1, np.int64),
            token_style=np.zeros(columns + 1, np.int64),
            token_column=np.zeros(columns + 1, np.int64),
            unknown_slots=self._unknown_slots.ctypes.data,
            unknown_address=self._unknown[0].ctypes.data,
            unknown_length=self._unknown[1].ctypes.data,
            unknown_kinds=np.zeros(UNKNOWN_MAX, np.int64),
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

    def tokens(self, column_ids: list[int]) -> list[Token]:
        """What the row that asks for a new shape has beyond the tree."""
        work = self.work
        return [
            Token(
                _bytes_at(int(work.token_at[n]), int(work.token_length[n])),
                int(work.token_style[n]),
                0 if work.token_style[n] == END else column_ids[work.token_column[n]],
            )
            for n in range(int(work.state[kernels.TOKENS]))
        ]

    def unknown(self) -> dict[str, str]:
        """Keys that no column has, in the order in which they came; without those that were always null."""
        work = self.work
        addresses, lengths = self._unknown
        seen = np.flatnonzero(work.unknown_kinds[: int(work.state[kernels.UNKNOWN])])[:UNKNOWN_TOLD_MAX]
        return {
            _bytes_at(int(addresses[n]), int(lengths[n])).decode(): _KINDS.get(int(work.unknown_kinds[n]), JSON_TEXT)
            for n in seen
        }


def fresh_hints(kinds: Sequence[int]) -> NDArray[np.int64]:
    """The styles that a codec expects before it has seen a value."""
    return np.array([_FIRST_STYLES[kind] for kind in kinds], np.int64)


def _bytes_at(address: int, length: int) -> bytes:
    return pa.foreign_buffer(address, length).to_pybytes() if length else b""


def _read_only(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array.flags.writeable = False
    return array

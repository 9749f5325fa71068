"""The compiled loops that write: cells into values, and values compared.

Written values grow from the end of the buffer to its front: the length of a message, which stands before it, is known
once the message is written, and nothing is measured first. What is written was taken from columns by this room; its
room is checked all the same. Kernels are kept on disk until a file of this folder changes (world/kernel_cache.py).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"
# What Numba compiles is typed by Numba; the faces of these kernels in the other files are typed for people.

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from lakestream.contract.codecs.protobuf.tables import (
    ALWAYS,
    BYTES_FRAME,
    CHILD,
    COUNT,
    EXPLICIT,
    FIXED64,
    FRAME_CURSOR,
    FRAME_END,
    FRAME_ENTRY,
    FRAME_LEFT,
    FRAME_MESSAGE,
    JSON,
    LEVEL,
    MESSAGE,
    MESSAGE_END,
    MESSAGE_FIRST,
    NODE,
    NUMBER,
    OP,
    PACKED,
    PRESENCE,
    TEXT,
    VARINT,
    WIRE,
    WRITTEN_BYTES_MAX,
    ZIGZAG32,
    ZIGZAG64,
)
from lakestream.world.kernel_cache import kept_with

# Without NRT, Numba's reference counting: nothing here allocates, and callers keep the arrays alive. What is inlined
# is so because handing this many arrays to a function for each row made reading four times slower.
_called = njit(nogil=True, _nrt=False)
_kept = kept_with(Path(__file__).parent)
_small = njit(nogil=True, _nrt=False, forceinline=True)


def _kernel(function: Callable[..., Any]) -> Any:
    return _kept(_called(function))


@intrinsic
def _copy_from(typingctx: Any, to: Any, to_at: Any, address: Any, count: Any) -> Any:
    """memcpy from an address: texts of many columns lie in many buffers, too many to be arguments."""
    signature = types.void(to, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, address, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        to_pointer = builder.gep(to_array.data, [to_at])
        cgutils.raw_memcpy(builder, to_pointer, builder.inttoptr(address, to_pointer.type), count, 1)
        return context.get_dummy_value()

    return signature, generate


@_small
def _put_varint(out, at, raw):
    """In front of `at`: where it begins."""
    size = 1
    rest = raw >> np.uint64(7)
    while rest:
        rest >>= np.uint64(7)
        size += 1
    at -= size
    place = at
    while raw >= np.uint64(128):
        out[place] = np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80))
        raw >>= np.uint64(7)
        place += 1
    out[place] = np.uint8(raw)
    return at


@_small
def _put_tag(out, at, number, wire):
    return _put_varint(out, at, np.uint64((number << 3) | wire))


@_small
def _put_number(out, at, value, wire, op):
    if wire == VARINT:
        raw = np.uint64(value)
        if op in (ZIGZAG32, ZIGZAG64):
            raw = np.uint64((value << np.int64(1)) ^ (value >> np.int64(63)))
        return _put_varint(out, at, raw)
    size = 8 if wire == FIXED64 else 4
    at -= size
    raw = np.uint64(value)
    for k in range(size):
        out[at + k] = np.uint8((raw >> np.uint64(8 * k)) & np.uint64(0xFF))
    return at


@_small
def _put_bytes(out, at, address, length):
    at -= length
    if length:
        _copy_from(out, at, address, length)
    return _put_varint(out, at, np.uint64(length))


@_small
def _is_written(cells, cell, presence, op):
    if presence == ALWAYS:
        return True
    if presence == EXPLICIT:
        return cells.valid[cell] != 0
    return cells.lengths[cell] != 0 if op >= TEXT else cells.numbers[cell] != 0


@_kernel
def _put_elements(out, at, fields, field, cells, entry):
    """The numbers, texts or bytes of a repeated field, last one first. -1: there is no room."""
    number = fields[field, NUMBER]
    wire = fields[field, WIRE]
    op = fields[field, OP]
    listed = cells.bases[fields[field, COUNT]] + entry
    start = cells.bases[fields[field, NODE]] + cells.numbers[listed]
    count = cells.lengths[listed]
    end = at
    for k in range(count - 1, -1, -1):
        if op < TEXT:
            if at < 2 * WRITTEN_BYTES_MAX:
                return np.int64(-1)
            at = _put_number(out, at, cells.numbers[start + k], wire, op)
        else:
            if at < 2 * WRITTEN_BYTES_MAX + cells.lengths[start + k]:
                return np.int64(-1)
            at = _put_bytes(out, at, cells.numbers[start + k], np.int64(cells.lengths[start + k]))
        if not fields[field, PACKED]:
            at = _put_tag(out, at, number, wire)
    if fields[field, PACKED] and count:
        at = _put_varint(out, at, np.uint64(end - at))
        at = _put_tag(out, at, number, BYTES_FRAME)
    return at


@_small
def _put_row(out, at, row, tables, cells, stack):
    """The message of one row, in front of `at`: where it begins; -1 where there is no room."""
    fields = tables.fields
    depth = 0
    entry = row
    end = at
    left = np.int64(-1)
    first = tables.messages[0, MESSAGE_FIRST]
    field = tables.messages[0, MESSAGE_END] - 1
    while True:
        if at < 2 * WRITTEN_BYTES_MAX:
            return np.int64(-1)
        if field < first:
            if depth == 0:
                return at
            at = _put_varint(out, at, np.uint64(end - at))
            depth -= 1
            entry = stack[depth, FRAME_ENTRY]
            end = stack[depth, FRAME_END]
            left = stack[depth, FRAME_LEFT]
            field = stack[depth, FRAME_CURSOR]
            first = tables.messages[stack[depth, FRAME_MESSAGE], MESSAGE_FIRST]
            at = _put_tag(out, at, fields[field, NUMBER], BYTES_FRAME)
            if left < 0:
                field -= 1
            continue
        op = fields[field, OP]
        if op != MESSAGE:
            if fields[field, LEVEL] >= 0:
                at = _put_elements(out, at, fields, field, cells, entry)
                if at < 0:
                    return at
            elif op != JSON:
                cell = cells.bases[fields[field, NODE]] + entry
                if _is_written(cells, cell, fields[field, PRESENCE], op):
                    if op < TEXT:
                        at = _put_number(out, at, cells.numbers[cell], fields[field, WIRE], op)
                    else:
                        length = np.int64(cells.lengths[cell])
                        if at < 2 * WRITTEN_BYTES_MAX + length:
                            return np.int64(-1)
                        at = _put_bytes(out, at, cells.numbers[cell], length)
                    at = _put_tag(out, at, fields[field, NUMBER], fields[field, WIRE])
            field -= 1
            continue
        inner = entry
        if fields[field, LEVEL] >= 0:
            listed = cells.bases[fields[field, COUNT]] + entry
            if left < 0:
                left = np.int64(cells.lengths[listed])
            if left == 0:
                left = np.int64(-1)
                field -= 1
                continue
            left -= 1
            inner = cells.numbers[listed] + left
        elif fields[field, PRESENCE] == EXPLICIT and cells.valid[cells.bases[fields[field, NODE]] + entry] == 0:
            field -= 1
            continue
        if depth + 1 >= stack.shape[0]:
            return np.int64(-1)
        stack[depth, FRAME_ENTRY] = entry
        stack[depth, FRAME_END] = end
        stack[depth, FRAME_LEFT] = left
        stack[depth, FRAME_CURSOR] = field
        depth += 1
        message = fields[field, CHILD]
        stack[depth, FRAME_MESSAGE] = message
        entry = inner
        end = at
        left = np.int64(-1)
        first = tables.messages[message, MESSAGE_FIRST]
        field = tables.messages[message, MESSAGE_END] - 1


@_kernel
def write_rows(out, prefix, tables, cells, offsets, stack):
    """All rows, the last one first, at the end of `out`: where the first begins; -1 where there is no room."""
    at = np.int64(out.size)
    stack[0, FRAME_MESSAGE] = 0
    for row in range(offsets.size - 2, -1, -1):
        offsets[row + 1] = at
        at = _put_row(out, at, row, tables, cells, stack)
        if at < prefix.size:
            return np.int64(-1)
        at -= prefix.size
        for k in range(prefix.size):
            out[at + k] = prefix[k]
    offsets[0] = at
    return at


@_kernel
def same_rows(data, offsets, other, other_offsets, same):
    """Which rows have the same bytes in both."""
    for row in range(same.size):
        length = np.int64(offsets[row + 1]) - np.int64(offsets[row])
        at = np.int64(offsets[row])
        other_at = np.int64(other_offsets[row])
        equal = length == np.int64(other_offsets[row + 1]) - other_at
        if equal:
            different = np.uint8(0)
            for k in range(length):  # to the end, since a loop without a way out is one of few steps
                different |= data[at + k] ^ other[other_at + k]
            equal = different == 0
        same[row] = equal

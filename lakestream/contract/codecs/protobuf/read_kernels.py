"""The compiled loops that read: values into cells, and texts gathered from where they stand.

Numba checks no bounds, so this file does. Values are hostile until proven otherwise: nothing is read past the end of
the message that it stands in, no length is believed before it is compared with what is left, and a failed read returns
a position past the end, which no later comparison lets through.
Kernels are kept on disk until a file of this folder changes (world/kernel_cache.py).
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
    BOOL,
    BYTES_FRAME,
    CELLS_PER_BYTE_MAX,
    CELLS_SPARE,
    CHILD,
    COUNT,
    FAULT_CODE,
    FAULT_FIELD,
    FAULT_HAVE,
    FAULT_NEED,
    FAULT_NUMBER,
    FIXED32,
    FIXED64,
    FOUR_SIGNED,
    FRAME_CURSOR,
    FRAME_END,
    FRAME_ENTRY,
    FRAME_MESSAGE,
    INT32,
    JSON,
    LEVEL,
    MESSAGE,
    MESSAGE_END,
    MESSAGE_FIRST,
    NO_END,
    NO_ROOM,
    NO_TAG,
    NODE,
    NONE,
    NOT_UTF8,
    NUMBER,
    OK,
    ONEOF,
    OP,
    OTHER_MESSAGE,
    SAID_TWICE,
    TAG_BYTES_MAX,
    TEXT,
    TOO_WIDE,
    TRUNCATED,
    UINT32,
    VARINT,
    VARINT_BYTES_MAX,
    WIRE,
    ZIGZAG32,
    ZIGZAG64,
)
from lakestream.world.kernel_cache import kept_with

INT32_MAX = 2**31 - 1
UINT32_MAX = 2**32 - 1

# Without NRT, Numba's reference counting: nothing here allocates, and callers keep the arrays alive. What is inlined
# is so because handing this many arrays to a function for each row made reading four times slower.
_called = njit(nogil=True, _nrt=False)
_kept = kept_with(Path(__file__).parent)
_small = njit(nogil=True, _nrt=False, forceinline=True)


def _kernel(function: Callable[..., Any]) -> Any:
    return _kept(_called(function))


@intrinsic
def _copy(typingctx: Any, to: Any, to_at: Any, source: Any, source_at: Any, count: Any) -> Any:
    """memcpy between one-dimensional byte arrays."""
    signature = types.void(to, types.int64, source, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, source, source_at, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        source_array = context.make_array(signature.args[2])(context, builder, source)
        to_pointer = builder.gep(to_array.data, [to_at])
        source_pointer = builder.gep(source_array.data, [source_at])
        cgutils.raw_memcpy(builder, to_pointer, source_pointer, count, 1)
        return context.get_dummy_value()

    return signature, generate


@_small
def _varint(buffer, at, end, bytes_max):
    """(value, position behind it); a position past `end` when there is no proper varint."""
    if at < end and buffer[at] < 128:
        return np.uint64(buffer[at]), at + 1
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + bytes_max)
    while at < stop:
        byte = np.uint64(buffer[at])
        at += 1
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@_small
def _little_endian(buffer, at, size):
    value = np.uint64(0)
    for k in range(size):
        value |= np.uint64(buffer[at + k]) << np.uint64(8 * k)
    return value


@_small
def _number(buffer, at, end, wire, op):
    """(value, position behind it) of one number, cut to the size of its type as Protobuf does."""
    if wire == VARINT:
        raw, at = _varint(buffer, at, end, VARINT_BYTES_MAX)
    elif wire == FIXED64:
        if end - at < 8:
            return np.int64(0), end + 1
        raw = _little_endian(buffer, at, 8)
        at += 8
    else:
        if end - at < 4:
            return np.int64(0), end + 1
        raw = _little_endian(buffer, at, 4)
        at += 4
    if op in (INT32, FOUR_SIGNED):
        return np.int64(np.int32(raw & np.uint64(UINT32_MAX))), at
    if op == UINT32:
        return np.int64(raw & np.uint64(UINT32_MAX)), at
    if op == ZIGZAG32:
        raw &= np.uint64(UINT32_MAX)
    if op in (ZIGZAG32, ZIGZAG64):
        return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at
    if op == BOOL:
        return np.int64(raw != np.uint64(0)), at
    return np.int64(raw), at


@_kernel
def _is_utf8(buffer, at, end):
    every = np.uint8(0)
    for k in range(at, end):
        every |= buffer[k]
    if every < 128:
        return True
    while at < end:
        lead = buffer[at]
        if lead < 0x80:
            at += 1
            continue
        low = 0x80
        high = 0xBF
        if 0xC2 <= lead <= 0xDF:
            more = 1
        elif 0xE0 <= lead <= 0xEF:
            more = 2
            if lead == 0xE0:
                low = 0xA0  # shorter forms exist
            elif lead == 0xED:
                high = 0x9F  # surrogates
        elif 0xF0 <= lead <= 0xF4:
            more = 3
            if lead == 0xF0:
                low = 0x90
            elif lead == 0xF4:
                high = 0x8F  # beyond the last code point
        else:
            return False
        if at + more >= end or buffer[at + 1] < low or buffer[at + 1] > high:
            return False
        for k in range(2, more + 1):
            if buffer[at + k] < 0x80 or buffer[at + k] > 0xBF:
                return False
        at += more + 1
    return True


@_small
def _field_of(fields, first, last, cursor, number):
    """Fields mostly come in order, so the next one is likely; else it is searched for."""
    if cursor < last and fields[cursor, NUMBER] == number:
        return cursor
    low = first
    high = last
    while low < high:
        middle = (low + high) >> 1
        if fields[middle, NUMBER] < number:
            low = middle + 1
        else:
            high = middle
    if low < last and fields[low, NUMBER] == number:
        return low
    return NONE


@_small
def _skipped(buffer, at, end, wire):
    """The position behind a value of no known field; past `end` if it does not end there."""
    if wire == VARINT:
        _, at = _varint(buffer, at, end, VARINT_BYTES_MAX)
        return at
    if wire == FIXED64:
        return at + 8
    if wire == FIXED32:
        return at + 4
    length, at = _varint(buffer, at, end, TAG_BYTES_MAX)
    if at > end or length > np.uint64(end - at):
        return end + 1
    return at + np.int64(length)


@_small
def _blame(fault, field, number, have, need):
    fault[FAULT_FIELD] = field
    fault[FAULT_NUMBER] = min(number, INT32_MAX)
    fault[FAULT_HAVE] = min(have, INT32_MAX)
    fault[FAULT_NEED] = min(need, INT32_MAX)


@_small
def _behind_prefix(buffer, at, end, prefix, other_prefix):
    """The position behind what names the message, in one of its two forms; -1 if another message is named."""
    if end - at >= prefix.size:
        same = True
        for k in range(prefix.size):
            same &= buffer[at + k] == prefix[k]
        if same:
            return at + prefix.size
    if other_prefix.size and end - at >= other_prefix.size:
        for k in range(other_prefix.size):
            if buffer[at + k] != other_prefix[k]:
                return np.int64(-1)
        return at + other_prefix.size
    return np.int64(-1)


@_small
def _new_entry(field, fields, levels, cells, entry, row, write):
    """Of a repeated field: its number in its level, or -1 where there is no room."""
    level = fields[field, LEVEL]
    new = levels.counts[level]
    levels.counts[level] = new + 1
    if write:
        if new >= levels.sizes[level]:
            return np.int64(-1)
        cells.numbers[cells.bases[fields[field, COUNT]] + entry] += 1
        levels.owners[levels.bases[level] + new] = row
    return new


@_small
def _choose(field, fields, cells, entry):
    """Note which field of a oneof an entry has. False: it has another one already."""
    at = cells.bases[fields[field, ONEOF]] + entry
    if cells.numbers[at] != 0 and cells.numbers[at] != field + 1:
        return False
    cells.numbers[at] = field + 1
    return True


@_small
def _read_row(buffer, at, end, row, tables, cells, levels, fault, stack, write):
    """One message with all in it: OK, or what is wrong with it."""
    fields = tables.fields
    budget = CELLS_SPARE + CELLS_PER_BYTE_MAX * (end - at)
    depth = 0
    entry = row
    first = tables.messages[0, MESSAGE_FIRST]
    last = tables.messages[0, MESSAGE_END]
    cursor = first
    while True:
        if at == end:
            if depth == 0:
                return OK
            depth -= 1
            frame = stack[depth]
            entry = frame[FRAME_ENTRY]
            end = frame[FRAME_END]
            cursor = frame[FRAME_CURSOR]
            first = tables.messages[frame[FRAME_MESSAGE], MESSAGE_FIRST]
            last = tables.messages[frame[FRAME_MESSAGE], MESSAGE_END]
            continue
        tag, at = _varint(buffer, at, end, TAG_BYTES_MAX)
        number = np.int64(tag >> np.uint64(3))
        wire = np.int64(tag & np.uint64(7))
        if at > end or tag > np.uint64(UINT32_MAX) or number == 0 or wire > FIXED32:
            return NO_TAG
        field = _field_of(fields, first, last, cursor, number)
        known = field >= 0
        if known:
            known = wire == fields[field, WIRE] or (wire == BYTES_FRAME and fields[field, LEVEL] >= 0)
        if not known:
            if wire != VARINT and wire != FIXED64 and wire != FIXED32 and wire != BYTES_FRAME:
                return SAID_TWICE  # a group: old, rare, and left to Protobuf's own library
            have = end - at
            at = _skipped(buffer, at, end, wire)
            if at > end:
                _blame(fault, NONE, number, have, have)
                return TRUNCATED
            continue
        op = fields[field, OP]
        node = fields[field, NODE]
        repeated = fields[field, LEVEL] >= 0
        cursor = field + 1 - np.int64(repeated)
        if write and fields[field, ONEOF] >= 0 and not _choose(field, fields, cells, entry):
            return SAID_TWICE
        if wire != BYTES_FRAME:
            have = end - at
            value, at = _number(buffer, at, end, wire, op)
            if at > end:
                _blame(fault, field, number, have, 8 if wire == FIXED64 else 4)
                return NO_END if wire == VARINT else TRUNCATED
            place = entry
            if repeated:
                budget -= tables.level_widths[fields[field, LEVEL]]
                place = _new_entry(field, fields, levels, cells, entry, row, write)
                if place < 0:
                    return NO_ROOM
                if budget < 0:
                    return TOO_WIDE
            if write:
                cells.numbers[cells.bases[node] + place] = value
                cells.valid[cells.bases[node] + place] = 1
            continue
        length, at = _varint(buffer, at, end, TAG_BYTES_MAX)
        if at > end:
            _blame(fault, field, number, 0, 0)
            return NO_END
        if length > np.uint64(end - at):
            _blame(fault, field, number, end - at, np.int64(min(length, np.uint64(INT32_MAX))))
            return TRUNCATED
        stop = at + np.int64(length)
        if op < TEXT:  # packed numbers
            while at < stop:
                have = stop - at
                value, at = _number(buffer, at, stop, fields[field, WIRE], op)
                if at > stop:
                    _blame(fault, field, number, have, 8 if fields[field, WIRE] == FIXED64 else 4)
                    return NO_END if fields[field, WIRE] == VARINT else TRUNCATED
                budget -= tables.level_widths[fields[field, LEVEL]]
                place = _new_entry(field, fields, levels, cells, entry, row, write)
                if place < 0:
                    return NO_ROOM
                if budget < 0:
                    return TOO_WIDE
                if write:
                    cells.numbers[cells.bases[node] + place] = value
                    cells.valid[cells.bases[node] + place] = 1
            continue
        place = entry
        if repeated:
            budget -= tables.level_widths[fields[field, LEVEL]]
            place = _new_entry(field, fields, levels, cells, entry, row, write)
            if place < 0:
                return NO_ROOM
            if budget < 0:
                return TOO_WIDE
        if op == MESSAGE:
            if write and node >= 0:
                cells.valid[cells.bases[node] + place] = 1
            frame = stack[depth]
            frame[FRAME_ENTRY] = entry
            frame[FRAME_END] = end
            frame[FRAME_CURSOR] = cursor
            depth += 1
            if depth >= stack.shape[0]:
                return NO_ROOM
            message = fields[field, CHILD]
            stack[depth, FRAME_MESSAGE] = message
            entry = place
            end = stop
            first = tables.messages[message, MESSAGE_FIRST]
            last = tables.messages[message, MESSAGE_END]
            cursor = first
            continue
        if op == TEXT and not _is_utf8(buffer, at, stop):
            _blame(fault, field, number, 0, 0)
            return NOT_UTF8
        if write:
            cell = cells.bases[node] + place
            if op == JSON and cells.valid[cell] != 0:
                return SAID_TWICE
            cells.numbers[cell] = at
            cells.lengths[cell] = length
            cells.valid[cell] = 1
        at = stop


@_kernel
def read_rows(buffer, offsets, prefix, other_prefix, tables, cells, levels, faults, stack, write):
    """Read all rows that have no fault yet. Without `write` they are only checked, and levels counted.

    Where a row turns out to be faulty it leaves no entries, and its own cells are empty again.
    """
    stack[0, FRAME_MESSAGE] = 0
    for row in range(offsets.size - 1):
        fault = faults[row]
        if fault[FAULT_CODE] != OK:
            continue
        end = np.int64(offsets[row + 1])
        at = _behind_prefix(buffer, np.int64(offsets[row]), end, prefix, other_prefix)
        if at < 0:
            fault[FAULT_CODE] = OTHER_MESSAGE
            continue
        for level in range(levels.counts.size):
            levels.before[level] = levels.counts[level]
        code = _read_row(buffer, at, end, row, tables, cells, levels, fault, stack, write)
        if code == OK:
            continue
        fault[FAULT_CODE] = code
        for level in range(levels.counts.size):
            levels.counts[level] = levels.before[level]
        if write:
            for node in range(tables.level_widths[0]):
                cells.numbers[cells.bases[node] + row] = 0
                cells.lengths[cells.bases[node] + row] = 0
                cells.valid[cells.bases[node] + row] = 0


@_kernel
def gather(source, positions, lengths, offsets, out):
    """Texts or bytes from where they stand in the values, one behind the other. False: there is no room."""
    at = np.int64(0)
    for k in range(positions.size):
        length = np.int64(lengths[k])
        offsets[k] = at
        if length:
            if length > out.size - at or positions[k] < 0 or length > source.size - positions[k]:
                return False
            _copy(out, at, source, positions[k], length)
            at += length
    offsets[positions.size] = at
    return True

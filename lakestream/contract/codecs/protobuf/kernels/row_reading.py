"""Reads one message with all messages in it, field by field, into cells.

Values are hostile until proven otherwise: nothing is read past the end of its message, no length is believed before it
is compared with the bytes left, and a failed read returns a position past the end, which no later comparison lets
through.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.entries import choose, entry_of
from lakestream.contract.codecs.protobuf.kernels.fields import field_of, skipped
from lakestream.contract.codecs.protobuf.kernels.numbers import number_at, varint_at
from lakestream.contract.codecs.protobuf.kernels.tables import (
    BYTES_FRAME,
    CELLS_PER_BYTE_MAX,
    CELLS_SPARE,
    CHILD,
    FAULT_FIELD,
    FAULT_HAVE,
    FAULT_NEED,
    FAULT_NUMBER,
    FIXED32,
    FIXED64,
    FRAME_CURSOR,
    FRAME_END,
    FRAME_ENTRY,
    FRAME_MESSAGE,
    INT32_MAX,
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
    OK,
    ONEOF,
    OP,
    SAID_TWICE,
    TAG_BYTES_MAX,
    TEXT,
    TRUNCATED,
    UINT32_MAX,
    VARINT,
    WIRE,
)
from lakestream.world.compiled.addresses import address_of
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.utf8 import is_utf8


@small
def _blame(fault, field, number, have, need):
    fault[FAULT_FIELD] = field
    fault[FAULT_NUMBER] = min(number, INT32_MAX)
    fault[FAULT_HAVE] = min(have, INT32_MAX)
    fault[FAULT_NEED] = min(need, INT32_MAX)


@small
def _number_fault(fault, field, number, have, wire):
    """Note and return the fault of a number that does not end within the `have` bytes that are left."""
    _blame(fault, field, number, have, 8 if wire == FIXED64 else 4)
    return NO_END if wire == VARINT else TRUNCATED


@small
def _put_number(cells, node, entry, value):
    cell = cells.bases[node] + entry
    cells.numbers[cell] = value
    cells.valid[cell] = 1


@apart
def _is_utf8(at, end):
    return is_utf8(at, end)


@small
def read_row(buffer, at, end, row, tables, cells, levels, fault, stack, write):
    """Read one message with everything in it. Returns OK or the fault."""
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
        tag, at = varint_at(buffer, at, end, TAG_BYTES_MAX)
        number = np.int64(tag >> np.uint64(3))
        wire = np.int64(tag & np.uint64(7))
        if at > end or tag > np.uint64(UINT32_MAX) or number == 0 or wire > FIXED32:
            return NO_TAG
        field = field_of(fields, first, last, cursor, number)
        known = field >= 0
        if known:
            known = wire == fields[field, WIRE] or (wire == BYTES_FRAME and fields[field, LEVEL] >= 0)
        if not known:
            if wire != VARINT and wire != FIXED64 and wire != FIXED32 and wire != BYTES_FRAME:
                return SAID_TWICE  # a group: old, rare, and left to Protobuf's own library
            have = end - at
            at = skipped(buffer, at, end, wire)
            if at > end:
                _blame(fault, NONE, number, have, have)
                return TRUNCATED
            continue
        op = fields[field, OP]
        node = fields[field, NODE]
        cursor = field if fields[field, LEVEL] >= 0 else field + 1
        if write and fields[field, ONEOF] >= 0 and not choose(field, fields, cells, entry):
            return SAID_TWICE
        if wire != BYTES_FRAME:
            have = end - at
            value, at = number_at(buffer, at, end, wire, op)
            if at > end:
                return _number_fault(fault, field, number, have, wire)
            code, place, budget = entry_of(field, tables, levels, cells, entry, row, budget, write)
            if code != OK:
                return code
            if write:
                _put_number(cells, node, place, value)
            continue
        length, at = varint_at(buffer, at, end, TAG_BYTES_MAX)
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
                value, at = number_at(buffer, at, stop, fields[field, WIRE], op)
                if at > stop:
                    return _number_fault(fault, field, number, have, fields[field, WIRE])
                code, place, budget = entry_of(field, tables, levels, cells, entry, row, budget, write)
                if code != OK:
                    return code
                if write:
                    _put_number(cells, node, place, value)
            continue
        code, place, budget = entry_of(field, tables, levels, cells, entry, row, budget, write)
        if code != OK:
            return code
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
        if op == TEXT and not _is_utf8(address_of(buffer) + at, address_of(buffer) + stop):
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

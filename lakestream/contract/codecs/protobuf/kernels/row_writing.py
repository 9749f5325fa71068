"""Writes one message with all messages in it, from its end to its beginning.

The length of a message stands before it. Written backwards, it is known when it is needed, and nothing is measured
first. The cells come from columns that this package took apart; the room is checked all the same.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.numbers import put_number, put_varint
from lakestream.contract.codecs.protobuf.kernels.tables import (
    ALWAYS,
    BYTES_FRAME,
    CHILD,
    COUNT,
    EXPLICIT,
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
    WIRE,
    WRITTEN_BYTES_MAX,
)
from lakestream.world.compiled.compiling import small
from lakestream.world.compiled.copying import copy_from


@small
def _put_tag(out, at, number, wire):
    return put_varint(out, at, np.uint64((number << 3) | wire))


@small
def _put_bytes(out, at, address, length):
    at -= length
    if length:
        copy_from(out, at, address, length)
    return put_varint(out, at, np.uint64(length))


@small
def _is_written(cells, cell, presence, op):
    if presence == ALWAYS:
        return True
    if presence == EXPLICIT:
        return cells.valid[cell] != 0
    return cells.lengths[cell] != 0 if op >= TEXT else cells.numbers[cell] != 0


@small
def _put_elements(out, at, fields, field, cells, entry):
    """Write the numbers, texts or bytes of a repeated field, last one first. -1 without room."""
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
            at = put_number(out, at, cells.numbers[start + k], wire, op)
        else:
            if at < 2 * WRITTEN_BYTES_MAX + cells.lengths[start + k]:
                return np.int64(-1)
            at = _put_bytes(out, at, cells.numbers[start + k], np.int64(cells.lengths[start + k]))
        if not fields[field, PACKED]:
            at = _put_tag(out, at, number, wire)
    if fields[field, PACKED] and count:
        at = put_varint(out, at, np.uint64(end - at))
        at = _put_tag(out, at, number, BYTES_FRAME)
    return at


@small
def put_row(out, at, row, tables, cells, stack):
    """Write the message of one row in front of `at`. Returns where it begins, or -1 without room."""
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
            at = put_varint(out, at, np.uint64(end - at))
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
                        at = put_number(out, at, cells.numbers[cell], fields[field, WIRE], op)
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

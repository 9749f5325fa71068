"""The compiled loops of the Avro codec: decode, encode, and the check that one undoes the other.

A program is a table of instructions, one for each type in the schema, in the order in which values are written; both
directions follow the same one. A node is what an instruction fills or reads: Arrow's buffers of one column or part.

    [null, T]      is part of T's instruction: the branch that means T and the one that means null
    union          jumps to the branch: the instructions behind it are jumps, one for each branch
    array, map     LIST ... NEXT around the item, whose nodes count items, not rows: they are on a level of their own

Nothing is written for null: validity bits and numbers are zero before, and offsets are filled up when the next value
comes (`_fill`). So a row that fails is taken back by looking at the offsets alone (`_take_back`).

Nodes hold addresses, since a loop over columns of many types cannot hold arrays of each. Numba checks no bounds in any
case: no byte is read behind the end of its row, no length or count is believed before it is compared with what is left,
nothing is written before its room is checked. When there is no room, the caller makes more and goes on at that row.

All kernels and all their constants live in this one file: Numba's cache watches no other.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"
# ruff: noqa: SIM109  # `in` a tuple is a loop to Numba
# What Numba compiles is typed by Numba; the faces of these kernels in the other files are typed for people.

from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Instructions. The first ones steer and have no value of their own.
END, JUMP, NEXT, NOTHING = range(4)
UNION, STRUCT, LIST, PRESENT = range(4, 8)
BOOLEAN, LONG, NUMBER4, NUMBER8, FLOAT, FLOAT_AS_DOUBLE, DOUBLE = range(8, 15)
STRING, BYTES, FIXED, DECIMAL, ENUM, TEXT = range(15, 21)

# Cells of an instruction.
OP, NODE, LEVEL, VALUE_BRANCH, NULL_BRANCH, AFTER, A, B, C = range(9)
OP_CELLS = 9
"""NODE is the node's first cell. VALUE_BRANCH and NULL_BRANCH are -1 where there is none. AFTER is the instruction
behind the whole type. A, B, C:
UNION number of branches | LIST, NEXT first instruction of the item; bytes of an item at least
NUMBER least, greatest, factor | BYTES, DECIMAL, FIXED size, or -1 if it is written | DECIMAL high, low of the bound
ENUM first symbol, number of symbols | TEXT first instruction of its type
"""

# Cells of a node.
VALID, DATA, OFFSETS, ON_LEVEL, ITEM_LEVEL, POSITION, FILLED, ROOM, LEFT, HAS_BITS, VALID_BIT, DATA_BIT = range(12)
NODE_CELLS = 12
"""VALID 0: never null. ITEM_LEVEL -1: no list. POSITION: bytes or items so far, ROOM: how many fit. FILLED: offsets[0]
to offsets[FILLED] are right. LEFT: items of the current block. HAS_BITS: DATA is a bitmap. *_BIT: first bit of slices.
"""

# Faults of a row.
OK, NO_ROOM, LEFTOVER, CUT_NUMBER, CUT_BYTES, LENGTH, NO_BRANCH, NO_SYMBOL, NO_BOOLEAN, NOT_UTF8 = range(10)
RANGE, COUNT, DEPTH, MISSING, TOO_LARGE = range(10, 15)
FAULT_CELLS = 5
"""Row, fault, instruction, a number about it, bytes that were left."""

EMPTY_ITEMS_MAX = 1_000
"""In a block of items that take no bytes: no length of a row bounds their count."""
TEXT_DEPTH_MAX = 64
"""Of a value whose type contains itself."""
NUMBER_BYTES_MAX = 10
SLACK_BYTES = 48
"""Behind the room of an output: what is short is written first and measured afterwards."""
DECIMAL_BYTES = 16
WORD_BYTES = 8
"""Behind the room of a node's bytes: short text is copied by whole words."""
_HIGH_BITS = np.uint64(0x8080808080808080)

# Without NRT, Numba's reference counting: nothing here allocates, and counting made the record kernels far slower.
_kernel = njit(cache=True, nogil=True, _nrt=False)
_small = njit(nogil=True, _nrt=False, forceinline=True)


@intrinsic
def _get(typingctx: Any, array: Any, at: Any) -> Any:
    """array[at], without the question whether `at` is negative and means the end."""
    signature = array.dtype(array, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load(builder.gep(data, [arguments[1]]))

    return signature, generate


@intrinsic
def _set(typingctx: Any, array: Any, at: Any, value: Any) -> Any:
    signature = types.void(array, types.int64, array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _word(typingctx: Any, array: Any, at: Any) -> Any:
    """Eight bytes of a byte array at any place, as they lie."""
    signature = types.uint64(array, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.gep(data, [arguments[1]])
        word = context.get_value_type(types.uint64)
        return builder.load(builder.bitcast(pointer, word.as_pointer()), align=1)

    return signature, generate


@intrinsic
def _half_word(typingctx: Any, array: Any, at: Any) -> Any:
    signature = types.uint32(array, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.gep(data, [arguments[1]])
        word = context.get_value_type(types.uint32)
        return builder.load(builder.bitcast(pointer, word.as_pointer()), align=1)

    return signature, generate


@intrinsic
def _set_word(typingctx: Any, array: Any, at: Any, value: Any) -> Any:
    signature = types.void(array, types.int64, value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.gep(data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(pointer, arguments[2].type.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Of a word that is not 0."""
    signature = types.uint64(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return signature, generate


@intrinsic
def _load(typingctx: Any, address: Any, like: Any) -> Any:
    """What lies at an address, of the type of `like`."""
    signature = like(types.int64, like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_value_type(signature.return_type).as_pointer())
        return builder.load(pointer, align=1)

    return signature, generate


@intrinsic
def _store(typingctx: Any, address: Any, value: Any) -> Any:
    """As many bytes as the value's type has. Mind that Numba's uint8 | uint8 is a uint64: cast what is stored."""
    signature = types.void(types.int64, value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], arguments[1].type.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _copy_in(typingctx: Any, address: Any, array: Any, at: Any, count: Any) -> Any:
    """From a byte array to an address."""
    signature = types.void(types.int64, array, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        source = builder.gep(data, [arguments[2]])
        cgutils.raw_memcpy(builder, builder.inttoptr(arguments[0], source.type), source, arguments[3], 1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _copy_out(typingctx: Any, array: Any, at: Any, address: Any, count: Any) -> Any:
    """From an address to a byte array."""
    signature = types.void(array, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        to = builder.gep(data, [arguments[1]])
        cgutils.raw_memcpy(builder, to, builder.inttoptr(arguments[2], to.type), arguments[3], 1)
        return context.get_dummy_value()

    return signature, generate


# --- numbers and text ---------------------------------------------------------------------------------------------


@_small
def _packed_varint(data, at, end):
    """Of three to eight bytes, eight read at once: the groups of seven bits are moved together in three steps."""
    word = _word(data, at)
    stops = ~word & _HIGH_BITS
    if stops == np.uint64(0):
        return _long_varint(data, at, end)
    stop = _trailing_zeros(stops)
    size = np.int64(stop >> np.uint64(3)) + 1
    if size > end - at:
        return np.uint64(0), end + 1
    word &= np.uint64(0x7F7F7F7F7F7F7F7F) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(63) - stop))
    word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    word = (word & np.uint64(0x000000000FFFFFFF)) | ((word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    return word, at + size


@_small
def _long_varint(data, at, end):
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + NUMBER_BYTES_MAX)
    while at < stop:
        byte = np.uint64(_get(data, at))
        at += 1
        if shift == np.uint64(63) and byte > np.uint64(1):
            break  # more than 64 bits
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@_small
def _number(data, at, end):
    """(zig-zag varint, position behind it); a position past `end` when there is none."""
    if at < end and _get(data, at) < 128:
        raw = np.uint64(_get(data, at))
        at += 1
    elif at + 1 < end and _get(data, at + 1) < 128:
        raw = np.uint64(_get(data, at) & np.uint8(0x7F)) | (np.uint64(_get(data, at + 1)) << np.uint64(7))
        at += 2
    elif data.size - at >= 8:
        raw, at = _packed_varint(data, at, end)
    else:
        raw, at = _long_varint(data, at, end)
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at


@_kernel
def _is_utf8(data, at, end):
    while at < end:
        while end - at >= 8 and _word(data, at) & _HIGH_BITS == np.uint64(0):
            at += 8
        if at >= end:
            return True
        lead = _get(data, at)
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
        if at + more >= end or _get(data, at + 1) < low or _get(data, at + 1) > high:
            return False
        for k in range(2, more + 1):
            if _get(data, at + k) < 0x80 or _get(data, at + k) > 0xBF:
                return False
        at += more + 1
    return True


# --- nodes --------------------------------------------------------------------------------------------------------


@_small
def _set_bit(address, bit):
    byte = address + (bit >> 3)
    _store(byte, np.uint8(_load(byte, np.uint8(0)) | (1 << (bit & 7))))


@_small
def _has_bit(address, bit):
    return (_load(address + (bit >> 3), np.uint8(0)) >> np.uint8(bit & 7)) & np.uint8(1) != np.uint8(0)


@_kernel
def _clear_bits(address, first, last):
    for bit in range(first, last + 1):
        byte = address + (bit >> 3)
        _store(byte, np.uint8(_load(byte, np.uint8(0)) & ~(1 << (bit & 7))))


@_small
def _is_valid(nodes, node, slot):
    valid = _get(nodes, node + VALID)
    return valid == 0 or _has_bit(valid, _get(nodes, node + VALID_BIT) + slot)


@_small
def _offset(offsets, slot):
    return np.int64(_load(offsets + 4 * slot, np.int32(0)))


@_small
def _fill(nodes, node, slot):
    """Offsets up to that of `slot`: what lay between had no value."""
    filled = _get(nodes, node + FILLED)
    if filled < slot:
        position = np.int32(_get(nodes, node + POSITION))
        offsets = _get(nodes, node + OFFSETS)
        while filled < slot:
            filled += 1
            _store(offsets + 4 * filled, position)
        _set(nodes, node + FILLED, filled)


@_small
def _ends(nodes, node, slot, position):
    """The value of `slot` ends at `position`."""
    _store(_get(nodes, node + OFFSETS) + 4 * (slot + 1), np.int32(position))
    _set(nodes, node + POSITION, position)
    _set(nodes, node + FILLED, slot + 1)


@_small
def _append(nodes, node, slot, data, at, length):
    """Whether there was room."""
    _fill(nodes, node, slot)
    position = _get(nodes, node + POSITION)
    if length > _get(nodes, node + ROOM) - position:
        return False
    _copy_in(_get(nodes, node + DATA) + position, data, at, length)
    _ends(nodes, node, slot, position + length)
    return True


@_small
def _append_text(nodes, node, slot, data, at, length):
    """(fault). Most text is short and ASCII: up to 16 bytes are checked and copied as words, without a call."""
    if length > 16 or (length < 8 and data.size - at < 8):
        if not _is_utf8(data, at, at + length):
            return NOT_UTF8
        return OK if _append(nodes, node, slot, data, at, length) else NO_ROOM
    first = _word(data, at)
    if length >= 8:
        last = _word(data, at + length - 8)
        high = first | last
    else:
        last = first
        high = np.uint64(0) if length == 0 else first << np.uint64(64 - 8 * length)
    if high & _HIGH_BITS != np.uint64(0) and not _is_utf8(data, at, at + length):
        return NOT_UTF8
    _fill(nodes, node, slot)
    position = _get(nodes, node + POSITION)
    if length > _get(nodes, node + ROOM) - position:
        return NO_ROOM
    address = _get(nodes, node + DATA) + position
    _store(address, first)  # what is behind a shorter text is overwritten by the next; there are WORD_BYTES at the end
    if length > 8:
        _store(address + length - 8, last)
    _ends(nodes, node, slot, position + length)
    return OK


@_kernel
def _take_back(nodes, levels, starts, row):
    """Everything that row `row` has put anywhere. `starts` is for each level the first slot that was the row's."""
    _set(starts, 0, row)
    for number in range(nodes.size // NODE_CELLS):
        node = number * NODE_CELLS
        level = _get(nodes, node + ON_LEVEL)
        start = _get(starts, level)
        last = _get(levels, level)
        if _get(nodes, node + VALID) != 0:
            _clear_bits(_get(nodes, node + VALID), start, last)
        if _get(nodes, node + HAS_BITS) != 0:
            _clear_bits(_get(nodes, node + DATA), start, last)
        offsets = _get(nodes, node + OFFSETS)
        if offsets != 0 and _get(nodes, node + FILLED) >= start:
            _set(nodes, node + POSITION, _offset(offsets, start))
            _set(nodes, node + FILLED, start)
        if _get(nodes, node + ITEM_LEVEL) >= 0:
            _set(starts, _get(nodes, node + ITEM_LEVEL), _get(nodes, node + POSITION))
    for level in range(1, levels.size):
        _set(levels, level, _get(starts, level))


# --- decimals -----------------------------------------------------------------------------------------------------


@_small
def _big_endian(data, at, length):
    """(high, low, whether it fits 128 bits) of a number in two's complement."""
    if length == 0:
        return np.uint64(0), np.uint64(0), True
    sign = np.uint64(0xFFFFFFFFFFFFFFFF) if _get(data, at) >= 128 else np.uint64(0)
    fits = True
    while length > DECIMAL_BYTES:
        fits = fits and np.uint64(_get(data, at)) == sign & np.uint64(0xFF)
        at += 1
        length -= 1
    fits = fits and (_get(data, at) >= 128) == (sign != np.uint64(0))
    high = sign
    low = sign
    for k in range(length):
        high = (high << np.uint64(8)) | (low >> np.uint64(56))
        low = (low << np.uint64(8)) | np.uint64(_get(data, at + k))
    return high, low, fits


@_small
def _is_below(high, low, bound_high, bound_low):
    """Whether the magnitude is less than the bound."""
    if high >> np.uint64(63):
        low = ~low + np.uint64(1)
        high = ~high + (np.uint64(1) if low == np.uint64(0) else np.uint64(0))
    return high < bound_high or (high == bound_high and low < bound_low)


@_small
def _decimal_byte(high, low, k):
    """The k-th byte from the lowest, with the sign before the highest."""
    if k >= DECIMAL_BYTES:
        return np.uint8(0xFF) if high >> np.uint64(63) else np.uint8(0)
    word = low if k < 8 else high
    return np.uint8((word >> np.uint64(8 * (k & 7))) & np.uint64(0xFF))


@_small
def _decimal_bytes(high, low):
    """As few as hold it, with its sign."""
    size = DECIMAL_BYTES
    sign = _decimal_byte(high, low, DECIMAL_BYTES)
    while size > 1:
        below_is_negative = _decimal_byte(high, low, size - 2) >= 128
        if _decimal_byte(high, low, size - 1) != sign or below_is_negative != (sign != np.uint8(0)):
            break
        size -= 1
    return size


# --- types that contain themselves --------------------------------------------------------------------------------


@_small
def _next_block(data, at, end, smallest):
    """(fault, items in it, position). The bytes that a negative count announces are of no use here."""
    count, at = _number(data, at, end)
    if count < 0 and at <= end:
        count = np.int64(-count)
        _, at = _number(data, at, end)
    if at > end:
        return CUT_NUMBER, np.int64(0), at
    if count < 0 or count > (EMPTY_ITEMS_MAX if smallest == 0 else (end - at) // smallest):
        return COUNT, count, at
    return OK, count, at


@_small
def _skip_scalar(data, at, end, op, size):
    """(fault, number about it, position) behind a value without parts."""
    if op == BOOLEAN:
        size = 1
    elif op == FLOAT:
        size = 4
    elif op == DOUBLE:
        size = 8
    elif op == LONG or op == ENUM:
        value, at = _number(data, at, end)
        return (CUT_NUMBER if at > end else OK), value, at
    if size < 0:
        size, at = _number(data, at, end)
        if at > end:
            return CUT_NUMBER, np.int64(0), at
        if size < 0:
            return LENGTH, size, at
    if size > end - at:
        return CUT_BYTES, size, at
    return OK, size, at + size


@_kernel
def _skip_text(data, at, end, ops, pc, stack):
    """(fault, number about it, position) behind a value of a type that may contain itself: proves that it is whole."""
    depth = 0
    while True:
        base = pc * OP_CELLS
        op = _get(ops, base + OP)
        if op == END:
            if depth == 0:
                return OK, np.int64(0), at
            depth -= 1
            pc = _get(stack, depth)
        elif op == JUMP:
            pc = _get(ops, base + AFTER)
        elif op == TEXT:
            if depth == TEXT_DEPTH_MAX:
                return DEPTH, np.int64(depth), at
            _set(stack, depth, pc + 1)
            depth += 1
            pc = _get(ops, base + A)
        elif op == UNION:
            branch, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, np.int64(0), at
            if branch < 0 or branch >= _get(ops, base + A):
                return NO_BRANCH, branch, at
            pc = pc + 1 + branch
        elif op == LIST or op == NEXT:
            if op == LIST:
                if depth == TEXT_DEPTH_MAX:
                    return DEPTH, np.int64(depth), at
                _set(stack, depth, np.int64(0))
                depth += 1
                left = np.int64(0)
            else:
                left = _get(stack, depth - 1) - 1
            if left == 0:
                fault, left, at = _next_block(data, at, end, _get(ops, base + B))
                if fault != OK:
                    return fault, left, at
            _set(stack, depth - 1, left)
            if left == 0:
                depth -= 1
                pc = _get(ops, base + AFTER)
            else:
                pc = _get(ops, base + A)
        elif op == NOTHING:
            pc += 1
        else:
            fault, detail, at = _skip_scalar(data, at, end, op, _get(ops, base + A))
            if fault != OK:
                return fault, detail, at
            pc += 1


# --- decode -------------------------------------------------------------------------------------------------------


@_kernel
def _decode_row(data, at, end, ops, nodes, levels, stack, symbols, symbol_starts):
    """(fault, instruction, number about it, position)."""
    pc = np.int64(0)
    while True:
        base = pc * OP_CELLS
        op = _get(ops, base + OP)
        if op < UNION:
            if op == END:
                return (OK if at == end else LEFTOVER), pc, end - at, at
            if op == JUMP:
                pc = _get(ops, base + AFTER)
                continue
            if op == NOTHING:
                pc += 1
                continue
            node = _get(ops, base + NODE)
            item_level = _get(nodes, node + ITEM_LEVEL)
            slot = _get(levels, item_level) + 1
            _set(levels, item_level, slot)
            left = _get(nodes, node + LEFT) - 1
            if left == 0:
                fault, left, at = _next_block(data, at, end, _get(ops, base + B))
                if fault != OK:
                    return fault, pc, left, at
                if left > _get(nodes, node + ROOM) - slot:
                    return NO_ROOM, pc, left, at
            _set(nodes, node + LEFT, left)
            if left > 0:
                pc = _get(ops, base + A)
            else:
                _ends(nodes, node, _get(levels, _get(ops, base + LEVEL)), slot)
                pc = _get(ops, base + AFTER)
            continue

        value_branch = _get(ops, base + VALUE_BRANCH)
        if value_branch >= 0:
            branch, at = _number(data, at, end)
            if branch != value_branch or at > end:
                if at > end:
                    return CUT_NUMBER, pc, np.int64(0), at
                if branch != _get(ops, base + NULL_BRANCH) or branch < 0:
                    return NO_BRANCH, pc, branch, at
                pc = _get(ops, base + AFTER)
                continue
        node = _get(ops, base + NODE)
        slot = _get(levels, _get(ops, base + LEVEL))
        if op == UNION:
            branch, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, pc, np.int64(0), at
            if branch < 0 or branch >= _get(ops, base + A):
                return NO_BRANCH, pc, branch, at
            if branch == _get(ops, base + NULL_BRANCH):
                pc = _get(ops, base + AFTER)
                continue
            pc += branch  # to the jump of this branch
        valid = _get(nodes, node + VALID)
        if valid != 0:
            _set_bit(valid, slot)

        if op == LONG:
            value, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, pc, np.int64(0), at
            _store(_get(nodes, node + DATA) + 8 * slot, value)
        elif op == STRING:
            length, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, pc, np.int64(0), at
            if length < 0 or length > end - at:
                return LENGTH, pc, length, at
            fault = _append_text(nodes, node, slot, data, at, length)
            if fault != OK:
                return fault, pc, length, at
            at += length
        elif op == NUMBER4 or op == NUMBER8:
            value, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, pc, np.int64(0), at
            if value < _get(ops, base + A) or value > _get(ops, base + B):
                return RANGE, pc, value, at
            if op == NUMBER4:
                _store(_get(nodes, node + DATA) + 4 * slot, np.int32(value))
            else:
                _store(_get(nodes, node + DATA) + 8 * slot, value * _get(ops, base + C))
        elif op == DOUBLE:
            if end - at < 8:
                return CUT_BYTES, pc, np.int64(8), at
            _store(_get(nodes, node + DATA) + 8 * slot, _word(data, at))
            at += 8
        elif op == FLOAT or op == FLOAT_AS_DOUBLE:
            if end - at < 4:
                return CUT_BYTES, pc, np.int64(4), at
            raw = _half_word(data, at)
            if op == FLOAT:
                _store(_get(nodes, node + DATA) + 4 * slot, raw)
            else:
                address = _get(nodes, node + DATA) + 8 * slot
                _store(address, raw)
                _store(address, np.float64(_load(address, np.float32(0))))
            at += 4
        elif op == BOOLEAN:
            if at >= end:
                return CUT_BYTES, pc, np.int64(1), at
            if _get(data, at) > 1:
                return NO_BOOLEAN, pc, np.int64(_get(data, at)), at
            # Without a branch, since nobody can foresee it.
            byte = _get(nodes, node + DATA) + (slot >> 3)
            _store(byte, np.uint8(_load(byte, np.uint8(0)) | (np.int64(_get(data, at)) << (slot & 7))))
            at += 1
        elif op == ENUM:
            symbol, at = _number(data, at, end)
            if at > end:
                return CUT_NUMBER, pc, np.int64(0), at
            if symbol < 0 or symbol >= _get(ops, base + B):
                return NO_SYMBOL, pc, symbol, at
            start = _get(symbol_starts, _get(ops, base + A) + symbol)
            length = _get(symbol_starts, _get(ops, base + A) + symbol + 1) - start
            if not _append(nodes, node, slot, symbols, start, length):
                return NO_ROOM, pc, length, at
        elif op == BYTES:
            length = _get(ops, base + A)
            if length < 0:
                length, at = _number(data, at, end)
                if at > end:
                    return CUT_NUMBER, pc, np.int64(0), at
            if length < 0 or length > end - at:
                return LENGTH, pc, length, at
            if not _append(nodes, node, slot, data, at, length):
                return NO_ROOM, pc, length, at
            at += length
        elif op == FIXED:
            length = _get(ops, base + A)
            if length > end - at:
                return CUT_BYTES, pc, length, at
            _copy_in(_get(nodes, node + DATA) + length * slot, data, at, length)
            at += length
        elif op == DECIMAL:
            length = _get(ops, base + A)
            if length < 0:
                length, at = _number(data, at, end)
                if at > end:
                    return CUT_NUMBER, pc, np.int64(0), at
            if length < 0 or length > end - at:
                return LENGTH, pc, length, at
            high, low, fits = _big_endian(data, at, length)
            if not fits or not _is_below(high, low, np.uint64(_get(ops, base + B)), np.uint64(_get(ops, base + C))):
                return RANGE, pc, length, at
            address = _get(nodes, node + DATA) + DECIMAL_BYTES * slot
            _store(address, low)
            _store(address + 8, high)
            at += length
        elif op == LIST:
            _fill(nodes, node, slot)
            # As if an item before the first had just ended: NEXT does the rest.
            _set(nodes, node + LEFT, np.int64(1))
            item_level = _get(nodes, node + ITEM_LEVEL)
            _set(levels, item_level, _get(levels, item_level) - 1)
            pc = _get(ops, base + AFTER) - 2
        elif op == PRESENT:
            _set_bit(_get(nodes, node + DATA), slot)
        elif op == TEXT:
            fault, detail, after = _skip_text(data, at, end, ops, _get(ops, base + A), stack)
            if fault != OK:
                return fault, pc, detail, after
            if not _append(nodes, node, slot, data, at, after - at):
                return NO_ROOM, pc, after - at, at
            at = after
        pc += 1


@_kernel
def decode_rows(data, offsets, first, ops, nodes, levels, starts, stack, symbols, symbol_starts, faults, failed):
    """Decode from row `first` on: (row, rows that failed so far, node that has no room or -1).

    With a node: give it room and call again with this row. Rows that fail leave no trace but their entry in `faults`.
    """
    for row in range(first, offsets.size - 1):
        at = np.int64(_get(offsets, row))
        end = np.int64(_get(offsets, row + 1))
        _set(levels, 0, row)
        fault, pc, detail, at = _decode_row(data, at, end, ops, nodes, levels, stack, symbols, symbol_starts)
        if fault != OK:
            _take_back(nodes, levels, starts, row)
            if fault == NO_ROOM:
                return row, failed, _get(ops, pc * OP_CELLS + NODE) // NODE_CELLS
            entry = failed * FAULT_CELLS
            _set(faults, entry, row)
            _set(faults, entry + 1, np.int64(fault))
            _set(faults, entry + 2, pc)
            _set(faults, entry + 3, detail)
            _set(faults, entry + 4, max(np.int64(0), end - at))
            failed += 1
    return np.int64(offsets.size - 1), failed, np.int64(-1)


@_kernel
def finish(nodes, levels, rows):
    """Fill up all offsets: what had no value at the end of its level."""
    _set(levels, 0, np.int64(rows))
    for number in range(nodes.size // NODE_CELLS):
        node = number * NODE_CELLS
        if _get(nodes, node + OFFSETS) != 0:
            _fill(nodes, node, _get(levels, _get(nodes, node + ON_LEVEL)))


# --- encode -------------------------------------------------------------------------------------------------------


@_small
def _put(out, at, number):
    raw = np.uint64((number << np.int64(1)) ^ (number >> np.int64(63)))
    while raw >= np.uint64(128):
        _set(out, at, np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80)))
        raw >>= np.uint64(7)
        at += 1
    _set(out, at, np.uint8(raw))
    return at + 1


@_small
def _copy_text(out, at, address, length):
    """Short ones as two words that overlap: reads no byte behind the source."""
    if length > 16:
        _copy_out(out, at, address, length)
    elif length >= 8:
        _set_word(out, at, _load(address, np.uint64(0)))
        _set_word(out, at + length - 8, _load(address + length - 8, np.uint64(0)))
    elif length >= 4:
        _set_word(out, at, _load(address, np.uint32(0)))
        _set_word(out, at + length - 4, _load(address + length - 4, np.uint32(0)))
    else:
        for k in range(length):
            _set(out, at + k, _load(address + k, np.uint8(0)))


@_small
def _compare(address, length, symbols, start, symbol_length):
    """Less than, equal to or greater than 0, as bytes compare."""
    for k in range(min(length, symbol_length)):
        difference = np.int64(_load(address + k, np.uint8(0))) - np.int64(_get(symbols, start + k))
        if difference != 0:
            return difference
    return length - symbol_length


@_kernel
def _symbol(address, length, symbols, symbol_starts, ranks, first, count):
    """The number of a symbol, or -1. `ranks` are the symbols' numbers in the order of their bytes."""
    low = np.int64(0)
    high = np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        symbol = _get(ranks, first + middle)
        start = _get(symbol_starts, first + symbol)
        order = _compare(address, length, symbols, start, _get(symbol_starts, first + symbol + 1) - start)
        if order == 0:
            return symbol
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return np.int64(-1)


@_small
def _set_branch(nodes, ops, pc, branches, levels):
    """The branch of a union whose member has a value, or -1."""
    for branch in range(branches):
        target = _get(ops, (pc + 1 + branch) * OP_CELLS + AFTER) * OP_CELLS
        if branch != _get(ops, pc * OP_CELLS + NULL_BRANCH):
            slot = _get(levels, _get(ops, target + LEVEL))
            if _is_valid(nodes, _get(ops, target + NODE), slot):
                return np.int64(branch)
    return np.int64(-1)


@_kernel
def _encode_row(out, at, limit, ops, nodes, levels, symbols, symbol_starts, ranks):
    """(fault, instruction, position). Up to SLACK_BYTES behind `limit` may be overwritten."""
    pc = np.int64(0)
    while True:
        if at > limit:
            return NO_ROOM, pc, at
        base = pc * OP_CELLS
        op = _get(ops, base + OP)
        if op < UNION:
            if op == END:
                return OK, pc, at
            if op == JUMP:
                pc = _get(ops, base + AFTER)
                continue
            if op == NOTHING:
                pc += 1
                continue
            node = _get(ops, base + NODE)
            item_level = _get(nodes, node + ITEM_LEVEL)
            _set(levels, item_level, _get(levels, item_level) + 1)
            left = _get(nodes, node + LEFT) - 1
            _set(nodes, node + LEFT, left)
            if left > 0:
                pc = _get(ops, base + A)
            else:
                _set(out, at, np.uint8(0))
                at += 1
                pc = _get(ops, base + AFTER)
            continue

        node = _get(ops, base + NODE)
        slot = _get(levels, _get(ops, base + LEVEL))
        if not _is_valid(nodes, node, slot):
            null_branch = _get(ops, base + NULL_BRANCH)
            if null_branch < 0:
                return MISSING, pc, at
            at = _put(out, at, null_branch)
            pc = _get(ops, base + AFTER)
            continue
        value_branch = _get(ops, base + VALUE_BRANCH)
        if value_branch >= 0:
            at = _put(out, at, value_branch)

        if op == LONG:
            at = _put(out, at, _load(_get(nodes, node + DATA) + 8 * slot, np.int64(0)))
        elif op == STRING or op == BYTES:
            offsets = _get(nodes, node + OFFSETS)
            start = _offset(offsets, slot)
            length = _offset(offsets, slot + 1) - start
            if op == STRING or _get(ops, base + A) < 0:
                at = _put(out, at, length)
            elif length != _get(ops, base + A):
                return MISSING, pc, at
            if length > limit - at:
                return NO_ROOM, pc, at
            _copy_text(out, at, _get(nodes, node + DATA) + start, length)
            at += length
        elif op == NUMBER4:
            at = _put(out, at, np.int64(_load(_get(nodes, node + DATA) + 4 * slot, np.int32(0))))
        elif op == NUMBER8:
            value = _load(_get(nodes, node + DATA) + 8 * slot, np.int64(0))
            at = _put(out, at, value if _get(ops, base + C) == 1 else value // 1000)
        elif op == DOUBLE:
            _set_word(out, at, _load(_get(nodes, node + DATA) + 8 * slot, np.uint64(0)))
            at += 8
        elif op == FLOAT:
            _set_word(out, at, _load(_get(nodes, node + DATA) + 4 * slot, np.uint32(0)))
            at += 4
        elif op == FLOAT_AS_DOUBLE:
            _set_word(out, at, np.float32(_load(_get(nodes, node + DATA) + 8 * slot, np.float64(0))))
            at += 4
        elif op == BOOLEAN:
            bit = _has_bit(_get(nodes, node + DATA), _get(nodes, node + DATA_BIT) + slot)
            _set(out, at, np.uint8(1) if bit else np.uint8(0))
            at += 1
        elif op == ENUM:
            offsets = _get(nodes, node + OFFSETS)
            start = _offset(offsets, slot)
            address = _get(nodes, node + DATA) + start
            length = _offset(offsets, slot + 1) - start
            symbol = _symbol(address, length, symbols, symbol_starts, ranks, _get(ops, base + A), _get(ops, base + B))
            if symbol < 0:
                return NO_SYMBOL, pc, at
            at = _put(out, at, symbol)
        elif op == FIXED:
            length = _get(ops, base + A)
            if length > limit - at:
                return NO_ROOM, pc, at
            _copy_out(out, at, _get(nodes, node + DATA) + length * slot, length)
            at += length
        elif op == DECIMAL:
            address = _get(nodes, node + DATA) + DECIMAL_BYTES * slot
            low = _load(address, np.uint64(0))
            high = _load(address + 8, np.uint64(0))
            length = _get(ops, base + A)
            if length < 0:
                length = np.int64(_decimal_bytes(high, low))
                at = _put(out, at, length)
            if length > limit - at:
                return NO_ROOM, pc, at
            for k in range(length):
                _set(out, at + k, _decimal_byte(high, low, length - 1 - k))
            at += length
        elif op == LIST:
            offsets = _get(nodes, node + OFFSETS)
            start = _offset(offsets, slot)
            left = _offset(offsets, slot + 1) - start
            if left == 0:
                _set(out, at, np.uint8(0))
                at += 1
                pc = _get(ops, base + AFTER)
                continue
            at = _put(out, at, left)
            _set(nodes, node + LEFT, left)
            _set(levels, _get(nodes, node + ITEM_LEVEL), start)
        elif op == UNION:
            branch = _set_branch(nodes, ops, pc, _get(ops, base + A), levels)
            if branch < 0:
                return MISSING, pc, at
            at = _put(out, at, branch)
            pc += branch
        elif op == TEXT:
            return MISSING, pc, at
        pc += 1


@_kernel
def check_rows(data, offsets, exact, scratch, ops, nodes, levels, symbols, symbol_starts, ranks):
    """Which of the rows marked in `exact` encode to the bytes they came from; clears the mark of the others."""
    for row in range(offsets.size - 1):
        if _get(exact, row) == 0:
            continue
        at = np.int64(_get(offsets, row))
        length = np.int64(_get(offsets, row + 1)) - at
        _set(levels, 0, row)
        fault, _, after = _encode_row(scratch, np.int64(0), length, ops, nodes, levels, symbols, symbol_starts, ranks)
        same = fault == OK and after == length
        k = np.int64(0)
        while same and length - k >= 8:
            same = _word(scratch, k) == _word(data, at + k)
            k += 8
        while same and k < length:
            same = _get(scratch, k) == _get(data, at + k)
            k += 1
        if not same:
            _set(exact, row, np.uint8(0))


@_kernel
def encode_rows(out, room, offsets, first, ops, nodes, levels, symbols, symbol_starts, ranks):
    """Encode from row `first` on: (fault, row, instruction). With NO_ROOM: call again with this row and more room."""
    at = np.int64(_get(offsets, first))
    for row in range(first, offsets.size - 1):
        _set(levels, 0, row)
        fault, pc, at = _encode_row(out, at, room, ops, nodes, levels, symbols, symbol_starts, ranks)
        if fault != OK:
            return fault, np.int64(row), pc
        _set(offsets, row + 1, np.int32(at))
    return OK, np.int64(offsets.size - 1), np.int64(0)

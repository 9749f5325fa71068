"""Columns to bytes: writes rows by their shapes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import styles
from lakestream.contract.codecs.json.kernels.compiling import kernel
from lakestream.contract.codecs.json.kernels.kinds import INT
from lakestream.contract.codecs.json.kernels.memory import (
    has_bit,
    int32_at,
    int64_at,
    item32,
    item64,
    move,
    put_byte,
    put_int32,
)
from lakestream.contract.codecs.json.kernels.number_writing import (
    NO_ROOM,
    NOT_OF_SHAPE,
    NUMBER_BYTES_MAX,
    put_number,
    put_whole,
)
from lakestream.contract.codecs.json.kernels.skipping import ALSE, NULL, TRUE
from lakestream.contract.codecs.json.kernels.string_writing import ESCAPED_BYTES_MAX, put_string
from lakestream.world.compiled.compiling import apart, small


@small
def _put_boolean(to, true):
    if true:
        put_int32(to, TRUE)
        return to + 4
    put_byte(to, 102)
    put_int32(to + 1, ALSE)
    return to + 5


@small
def _put_element(to, stop, row, column, style, fields):
    """Write an element of a list, which has no parts: the position behind it, or NO_ROOM, or NOT_OF_SHAPE."""
    if not has_bit(item64(fields.valid, column), item64(fields.first_bit, column) + row):
        put_int32(to, NULL)
        return to + 4
    value = item64(fields.values, column) + 8 * row
    if styles.RAW <= style <= styles.HTML_QUOTED:
        length = int32_at(item64(fields.lengths, column) + 4 * row)
        if length * ESCAPED_BYTES_MAX + 2 > stop - to:
            return np.int64(NO_ROOM)
        if style != styles.RAW:
            return put_string(to, int64_at(value), length, style)
        move(to, int64_at(value), length)
        return to + length
    if style == styles.WHOLE:
        return put_whole(to, int64_at(value))
    if style == styles.BOOLEAN:
        return _put_boolean(to, has_bit(item64(fields.values, column), item64(fields.first_bit, column) + row))
    return put_number(to, value, style)


@small
def _put_list(to, stop, row, column, style, fields):
    first = int64_at(item64(fields.values, column) + 8 * row)
    count = int32_at(item64(fields.lengths, column) + 4 * row)
    element = item64(fields.element, column)
    spaced = style >= styles.SPACED
    style -= styles.SPACED if spaced else styles.LISTS
    put_byte(to, 91)
    to += 1
    for k in range(count):
        if stop - to < 2 * NUMBER_BYTES_MAX:
            return np.int64(NO_ROOM)
        if k > 0:
            put_byte(to, 44)
            to += 1
            if spaced:
                put_byte(to, 32)
                to += 1
        to = _put_element(to, stop, first + k, element, style, fields)
        if to < 0:
            return to
    if to >= stop:
        return np.int64(NO_ROOM)
    put_byte(to, 93)
    return to + 1


@apart
def _put_rest(to, stop, row, column, fields):
    """Write the members without the braces that are around them in the column."""
    text = int64_at(item64(fields.values, column) + 8 * row)
    length = int32_at(item64(fields.lengths, column) + 4 * row)
    if length < 2:
        return np.int64(NOT_OF_SHAPE)
    if length > stop - to:
        return np.int64(NO_ROOM)
    move(to, text + 1, length - 2)
    return to + length - 2


@apart
def _put_parts(to, stop, row, column, style, fields):
    if style == styles.REST:
        return _put_rest(to, stop, row, column, fields)
    return _put_list(to, stop, row, column, style, fields)


@small
def encoded_row(row, shape, tree, fields, to, stop):
    """Write a row by its shape: the position behind it, or NO_ROOM, or NOT_OF_SHAPE."""
    for token in range(item32(tree.shape_first, shape), item32(tree.shape_first, shape + 1)):
        literal = item32(tree.token_literal, token)
        length = item64(tree.literal_length, literal)
        if length + NUMBER_BYTES_MAX > stop - to:
            return NO_ROOM
        move(to, item64(tree.literal_address, literal), length)
        to += length
        style = item32(tree.token_style, token)
        if style == styles.END:
            return to
        column = item32(tree.token_column, token)
        if style == styles.NULL or not has_bit(item64(fields.valid, column), item64(fields.first_bit, column) + row):
            put_int32(to, NULL)
            to += 4
            continue
        if styles.RAW <= style <= styles.HTML_QUOTED:
            text = int64_at(item64(fields.values, column) + 8 * row)
            length = int32_at(item64(fields.lengths, column) + 4 * row)
            if length * ESCAPED_BYTES_MAX + 2 > stop - to:
                return NO_ROOM
            if style == styles.RAW:
                move(to, text, length)
                to += length
            else:
                to = put_string(to, text, length, style)
        elif style == styles.WHOLE:
            if item64(fields.kind, column) == INT:
                to = put_whole(to, int32_at(item64(fields.values, column) + 4 * row))
            else:
                to = put_whole(to, int64_at(item64(fields.values, column) + 8 * row))
        elif style == styles.BOOLEAN:
            to = _put_boolean(to, has_bit(item64(fields.values, column), item64(fields.first_bit, column) + row))
        elif style < styles.LISTS:
            to = put_number(to, item64(fields.values, column) + 8 * row, style)
            if to < 0:
                return to
        else:
            to = _put_parts(to, stop, row, column, style, fields)
            if to < 0:
                return to
    return NOT_OF_SHAPE


@kernel
def encode_rows(first, shapes, tree, fields, to, stop, offsets):
    """Write rows from `first` on, one behind the other: (the row reached, the position, or that row's failure)."""
    start = to
    to += np.int64(offsets[first])
    for row in range(first, shapes.size):
        after = encoded_row(row, np.int64(shapes[row]), tree, fields, to, stop)
        if after < 0:
            return row, after
        to = after
        offsets[row + 1] = to - start
    return shapes.size, to - start

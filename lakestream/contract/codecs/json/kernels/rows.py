"""Reads one row into columns: down the tree of known shapes, and key by key where it ends."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.finding import child_of, find_text
from lakestream.contract.codecs.json.kernels.kinds import (
    BOOLEAN,
    DEEPER,
    DONE,
    ELEMENT,
    LIST,
    NOTHING,
    REST,
    STRING,
    TEXT,
    TOP,
)
from lakestream.contract.codecs.json.kernels.memory import item32, item64, put_byte, put_int32, put_item64, same_bytes
from lakestream.contract.codecs.json.kernels.rest import rest_value
from lakestream.contract.codecs.json.kernels.stepping import next_slot, open_struct, plain_slot
from lakestream.contract.codecs.json.kernels.styles import UNSTYLED
from lakestream.contract.codecs.json.kernels.unknown_keys import note_unknown
from lakestream.contract.codecs.json.kernels.values import value_at
from lakestream.contract.codecs.json.kernels.views import LEFT, LITERAL_SLOTS, OPENS, STAMP, TOKENS, UNKNOWN_NOW
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small

# How a row's walk ended, if not at the node of a shape.
NEW_SHAPE, NO_SHAPE = -1, -2


@apart
def _leave(tree, node, fields, row, work):
    """Leave the tree: from here on each key is checked against the row's earlier keys."""
    put_item64(work.state, LEFT, node)
    put_item64(work.state, TOKENS, 0)
    put_item64(work.state, OPENS, 0)
    put_item64(work.state, STAMP, item64(work.state, STAMP) + 1)
    put_item64(work.state, UNKNOWN_NOW, 0)
    while node > 0:
        literal = item32(tree.node_literal, node)
        put_item64(work.seen, item64(tree.literal_column, literal), item64(work.state, STAMP))
        for n in range(item32(tree.literal_opens, literal), item32(tree.literal_opens, literal + 1)):
            open_struct(work, fields, item32(tree.opened, n), row)
        node = item32(tree.node_parent, node)


@small
def _context_behind(tree, node, fields):
    """The object that the row is in behind the value of this node."""
    if node == 0:
        return np.int64(TOP)
    return item64(fields.parent, item64(tree.literal_column, item32(tree.node_literal, node)))


@apart
def _note_token(work, at, length, style, column):
    token = item64(work.state, TOKENS)
    put_item64(work.token_at, token, at)
    put_item64(work.token_length, token, length)
    put_item64(work.token_style, token, style)
    put_item64(work.token_column, token, column)
    put_item64(work.state, TOKENS, item64(work.state, TOKENS) + 1)


@small
def row_read(row, at, end, declared, fields, keys, tree, work):
    """(fault, position, column concerned or -1, node of the row's shape, or NEW_SHAPE, or NO_SHAPE)"""
    node = np.int64(0)
    context = np.int64(TOP)
    on_tree = True
    styled = True
    start = at
    while True:
        literal = np.int64(-1)
        column = np.int64(-1)
        unknown = np.int64(-1)
        value = at
        is_rest = False
        if on_tree:
            last = item32(tree.node_last, node)
            if last >= 0:
                guess = item32(tree.node_literal, last)
                length = item64(tree.literal_length, guess)
                if length <= end - at and same_bytes(item64(tree.literal_address, guess), at, length):
                    if item32(tree.node_style, last) == styles.END:
                        if length == end - at:
                            return faults.OK, at, column, last
                    elif length < end - at and byte_at(at + length) > 32:
                        literal = guess
                        column = item64(tree.literal_column, guess)
                        value = at + length
        if literal < 0:
            if on_tree:
                context = _context_behind(tree, node, fields)
            before = context
            plain = on_tree and context == TOP and fields.rest < 0
            if plain:
                fault, value, done = plain_slot(at, end, at == start)
                if fault != faults.OK:
                    return fault, value, column, NO_SHAPE
                if done:
                    context = np.int64(DONE)
                else:
                    plain = byte_at(value) != 123
            if not plain:
                fault, value, column, unknown, context = next_slot(
                    at, end, row, at == start, before, not on_tree, declared, fields, keys, work
                )
                if fault != faults.OK:
                    return fault, value, column, NO_SHAPE
            if on_tree:
                literal, _ = find_text(
                    tree.literal_slots,
                    LITERAL_SLOTS,
                    LITERAL_SLOTS,
                    tree.literal_context,
                    tree.literal_address,
                    tree.literal_length,
                    before,
                    at,
                    value - at,
                )
                node_end = np.int64(-1)
                if literal >= 0 and context == DONE:
                    node_end = child_of(tree, node, literal, styles.END)
                    if node_end >= 0:
                        return faults.OK, value, column, node_end
                if literal < 0 or context == DONE:
                    on_tree = False
                    _leave(tree, node, fields, row, work)
                    fault, value, column, unknown, context = next_slot(
                        at, end, row, at == start, before, True, declared, fields, keys, work
                    )
                    if fault != faults.OK:
                        return fault, value, column, NO_SHAPE
                else:
                    column = item64(tree.literal_column, literal)
            if context == DONE:
                if not styled or item64(work.state, UNKNOWN_NOW) > 0:
                    return faults.OK, value, column, NO_SHAPE
                _note_token(work, at, value - at, styles.END, -1)
                return faults.OK, value, column, NEW_SHAPE
            is_rest = fields.rest >= 0 and column == fields.rest
        if is_rest:
            fault, after, style = rest_value(value, end, row, fields, keys, work)
            kind = 0
        else:
            fault, after, style, kind = value_at(value, end, row, column, declared, fields, work)
        if fault != faults.OK:
            if fault == DEEPER or (not is_rest and column >= 0 and column == fields.rest):
                put_int32(tree.node_last + 4 * node, -1)  # the guess was wrong: look closer
                continue
            return fault, after, column, NO_SHAPE
        if style == styles.NULL and column >= 0:
            style = item64(work.hint, column)
            last = item32(tree.node_last, node)
            if on_tree and last >= 0 and item32(tree.node_literal, last) == literal and style != UNSTYLED:
                style = item32(tree.node_style, last)
        if on_tree:
            child = child_of(tree, node, literal, style) if style != UNSTYLED else np.int64(-1)
            if child >= 0:
                node = child
                at = after
                continue
            on_tree = False
            _leave(tree, node, fields, row, work)
            fault, value, column, unknown, context = next_slot(
                at, end, row, at == start, _context_behind(tree, node, fields), True, declared, fields, keys, work
            )
            if fault != faults.OK:
                return fault, value, column, NO_SHAPE
        if style == UNSTYLED or column < 0:
            styled = False
        if unknown >= 0:
            note_unknown(work, unknown, kind, value, after)
        elif styled:
            _note_token(work, at, value - at, style, column)
        at = after


@apart
def clear_row(fields, row):
    """Set every column of the row to null, whatever it had stored before its fault was found."""
    for column in range(fields.columns):
        kind = item64(fields.kind, column)
        if kind != NOTHING and item64(fields.parent, column) != ELEMENT:
            at = item64(fields.valid, column) + (row >> 3)
            put_byte(at, byte_at(at) & ~(1 << (row & 7)))
            if kind in (STRING, TEXT, LIST, REST):
                put_int32(item64(fields.lengths, column) + 4 * row, 0)
            elif kind == BOOLEAN:
                at = item64(fields.values, column) + (row >> 3)
                put_byte(at, byte_at(at) & ~(1 << (row & 7)))

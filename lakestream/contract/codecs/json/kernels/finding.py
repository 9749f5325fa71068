"""Lookups by hash: keys of columns, texts of shapes, edges of the tree."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels.compiling import kernel
from lakestream.contract.codecs.json.kernels.memory import item32, item64, put_int32, same_bytes
from lakestream.contract.codecs.json.kernels.strings import HAS_ESCAPES, unescaped
from lakestream.contract.codecs.json.kernels.views import ARENA, EDGE_SLOTS
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small


@kernel
def text_hash(context, address, length):
    hashed = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(length)
    hashed ^= np.uint64(context + 1) * np.uint64(0xD6E8FEB86659FD93)
    for k in range(length):
        hashed = (hashed ^ np.uint64(byte_at(address + k))) * np.uint64(0x100000001B3)
    return np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def edge_hash(node, literal, style):
    hashed = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)
    hashed = (hashed ^ np.uint64(literal)) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashed = (hashed ^ np.uint64(style)) * np.uint64(0x165667B19E3779F9)
    return np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@apart
def find_text(slots, slot_count, tries_max, contexts, addresses, lengths, context, address, length):
    """(number of the text or -1, the slot where it is or would be; -1 if that is not among the first `tries_max`)"""
    slot = text_hash(context, address, length) & (slot_count - 1)
    for _ in range(tries_max):
        found = item32(slots, slot)
        if found < 0:
            return found, slot
        same_place = item64(lengths, found) == length and item64(contexts, found) == context
        if same_place and same_bytes(item64(addresses, found), address, length):
            return found, slot
        slot = (slot + 1) & (slot_count - 1)
    return np.int64(-1), np.int64(-1)


@small
def child_of(tree, node, literal, style):
    """The child of a node for a literal and a style, or -1. It tries the previous row's child first."""
    last = item32(tree.node_last, node)
    if last >= 0 and item32(tree.node_literal, last) == literal and item32(tree.node_style, last) == style:
        return last
    slot = edge_hash(node, literal, style) & (EDGE_SLOTS - 1)
    while True:
        found = item32(tree.edge_slots, slot)
        if found < 0:
            return found
        same_edge = item32(tree.node_literal, found) == literal and item32(tree.node_style, found) == style
        if same_edge and item32(tree.node_parent, found) == node:
            put_int32(tree.node_last + 4 * node, found)
            return found
        slot = (slot + 1) & (EDGE_SLOTS - 1)


@apart
def column_of(context, key, key_end, flags, keys, work):
    """(column or -1, address and length of the key without escapes, which may lie at the end of the arena)"""
    length = key_end - key
    if flags & HAS_ESCAPES:
        text = work.arena + item64(work.state, ARENA)
        length = unescaped(key, key_end, text)
        key = text
    found, _ = find_text(
        keys.slots, keys.slot_count, keys.slot_count, keys.context, keys.address, keys.length, context, key, length
    )
    return (item64(keys.column, found) if found >= 0 else np.int64(-1)), key, length

"""Writes one row by the program: steering instructions, unions and lists; value_writing.py writes the values."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.memory import get, put
from lakestream.contract.codecs.avro.kernels.nodes import ITEM_LEVEL, LEFT, extent, is_valid
from lakestream.contract.codecs.avro.kernels.numbers import put_number
from lakestream.contract.codecs.avro.kernels.ops import (
    AFTER,
    END,
    JUMP,
    LEVEL,
    LIST,
    NEXT,
    NODE,
    NULL_BRANCH,
    OP,
    OP_CELLS,
    UNION,
    VALUE_BRANCH,
    A,
)
from lakestream.contract.codecs.avro.kernels.value_writing import write_value
from lakestream.world.compiled.compiling import apart, small

SLACK_BYTES = 48
"""Extra bytes behind the room of an output: short values are written first and checked afterwards."""


@small
def _set_branch(nodes, ops, pc, branches, levels):
    """The branch of a union whose member has a value, or -1."""
    for branch in range(branches):
        target = get(ops, (pc + 1 + branch) * OP_CELLS + AFTER) * OP_CELLS
        if branch != get(ops, pc * OP_CELLS + NULL_BRANCH):
            slot = get(levels, get(ops, target + LEVEL))
            if is_valid(nodes, get(ops, target + NODE), slot):
                return np.int64(branch)
    return np.int64(-1)


@small
def _begin_list(out, at, ops, base, nodes, node, slot, levels, item):
    """Begin a block with all items: (position, instruction to go on at). `item`: the instruction of the first."""
    first, count = extent(nodes, node, slot)
    if count == 0:
        put(out, at, np.uint8(0))
        return at + 1, get(ops, base + AFTER)
    put(nodes, node + LEFT, count)
    put(levels, get(nodes, node + ITEM_LEVEL), first)
    return put_number(out, at, count), item


@small
def _next_item(out, at, ops, base, nodes, levels):
    """Step on after an item: (position, instruction to go on at)."""
    node = get(ops, base + NODE)
    item_level = get(nodes, node + ITEM_LEVEL)
    put(levels, item_level, get(levels, item_level) + 1)
    left = get(nodes, node + LEFT) - 1
    put(nodes, node + LEFT, left)
    if left > 0:
        return at, get(ops, base + A)
    put(out, at, np.uint8(0))
    return at + 1, get(ops, base + AFTER)


@apart
def write_row(out, at, limit, ops, nodes, levels, symbols, symbol_starts, ranks):
    """Write one row: (fault, instruction, position). Up to SLACK_BYTES behind `limit` may be overwritten."""
    pc = np.int64(0)
    while True:
        if at > limit:
            return faults.NO_ROOM, pc, at
        base = pc * OP_CELLS
        op = get(ops, base + OP)
        if op < UNION:
            if op == END:
                return faults.OK, pc, at
            if op == JUMP:
                pc = get(ops, base + AFTER)
            elif op == NEXT:
                at, pc = _next_item(out, at, ops, base, nodes, levels)
            else:  # NOTHING
                pc += 1
            continue

        node = get(ops, base + NODE)
        slot = get(levels, get(ops, base + LEVEL))
        if not is_valid(nodes, node, slot):
            null_branch = get(ops, base + NULL_BRANCH)
            if null_branch < 0:
                return faults.MISSING, pc, at
            at = put_number(out, at, null_branch)
            pc = get(ops, base + AFTER)
            continue
        value_branch = get(ops, base + VALUE_BRANCH)
        if value_branch >= 0:
            at = put_number(out, at, value_branch)
        if op > LIST:
            fault, at = write_value(out, at, limit, op, ops, base, nodes, node, slot, symbols, symbol_starts, ranks)
            if fault != faults.OK:
                return fault, pc, at
            pc += 1
        elif op == LIST:
            at, pc = _begin_list(out, at, ops, base, nodes, node, slot, levels, pc + 1)
        elif op == UNION:
            branch = _set_branch(nodes, ops, pc, get(ops, base + A), levels)
            if branch < 0:
                return faults.MISSING, pc, at
            at = put_number(out, at, branch)
            pc += 1 + branch  # to the jump of this branch
        else:  # STRUCT
            pc += 1

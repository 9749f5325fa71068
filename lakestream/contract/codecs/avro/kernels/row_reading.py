"""Reads one row by the program: steering instructions, unions and lists; value_reading.py reads the values."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.blocks import next_block
from lakestream.contract.codecs.avro.kernels.memory import get, put, set_bit
from lakestream.contract.codecs.avro.kernels.nodes import ITEM_LEVEL, LEFT, ROOM, VALID, ends, fill
from lakestream.contract.codecs.avro.kernels.numbers import number_at
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
    B,
)
from lakestream.contract.codecs.avro.kernels.value_reading import read_value
from lakestream.world.compiled.compiling import apart, small


@small
def _begin_list(nodes, node, slot, levels):
    """Set the state as if an item before the first had just ended: NEXT does the rest."""
    fill(nodes, node, slot)
    put(nodes, node + LEFT, np.int64(1))
    item_level = get(nodes, node + ITEM_LEVEL)
    put(levels, item_level, get(levels, item_level) - 1)


@small
def _next_item(data, at, end, ops, base, nodes, levels):
    """Step on after an item: (fault, items left in the block, position, instruction to go on at)."""
    node = get(ops, base + NODE)
    item_level = get(nodes, node + ITEM_LEVEL)
    slot = get(levels, item_level) + 1
    put(levels, item_level, slot)
    left = get(nodes, node + LEFT) - 1
    if left == 0:
        fault, left, at = next_block(data, at, end, get(ops, base + B))
        if fault != faults.OK:
            return fault, left, at, np.int64(0)
        if left > get(nodes, node + ROOM) - slot:
            return faults.NO_ROOM, left, at, np.int64(0)
    put(nodes, node + LEFT, left)
    if left > 0:
        return faults.OK, left, at, get(ops, base + A)
    ends(nodes, node, get(levels, get(ops, base + LEVEL)), slot)
    return faults.OK, left, at, get(ops, base + AFTER)


@apart
def read_row(data, at, end, ops, nodes, levels, stack, symbols, symbol_starts):
    """Read one row: (fault, instruction, number about the fault, position)."""
    pc = np.int64(0)
    while True:
        base = pc * OP_CELLS
        op = get(ops, base + OP)
        if op < UNION:
            if op == END:
                return (faults.OK if at == end else faults.LEFTOVER), pc, end - at, at
            if op == JUMP:
                pc = get(ops, base + AFTER)
            elif op == NEXT:
                fault, detail, at, following = _next_item(data, at, end, ops, base, nodes, levels)
                if fault != faults.OK:
                    return fault, pc, detail, at
                pc = following
            else:  # NOTHING
                pc += 1
            continue

        value_branch = get(ops, base + VALUE_BRANCH)
        if value_branch >= 0:
            branch, at = number_at(data, at, end)
            if branch != value_branch or at > end:
                if at > end:
                    return faults.CUT_NUMBER, pc, np.int64(0), at
                if branch != get(ops, base + NULL_BRANCH) or branch < 0:
                    return faults.NO_BRANCH, pc, branch, at
                pc = get(ops, base + AFTER)
                continue
        node = get(ops, base + NODE)
        slot = get(levels, get(ops, base + LEVEL))
        if op == UNION:
            branch, at = number_at(data, at, end)
            if at > end:
                return faults.CUT_NUMBER, pc, np.int64(0), at
            if branch < 0 or branch >= get(ops, base + A):
                return faults.NO_BRANCH, pc, branch, at
            if branch == get(ops, base + NULL_BRANCH):
                pc = get(ops, base + AFTER)
                continue
            pc += branch  # to the jump of this branch
        valid = get(nodes, node + VALID)
        if valid != 0:
            set_bit(valid, slot)
        if op == LIST:
            _begin_list(nodes, node, slot, levels)
            pc = get(ops, base + AFTER) - 1
            continue
        fault, detail, at = read_value(data, at, end, op, ops, base, nodes, node, slot, stack, symbols, symbol_starts)
        if fault != faults.OK:
            return fault, pc, detail, at
        pc += 1

"""Skips a value of a type that may contain itself, and proves that it is whole. It becomes text later (avro/text.py).

It follows instructions of its own (avro/skipping.py), which call each other where a type contains another.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"
# ruff: noqa: SIM109  # `in` a tuple is a loop to Numba

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.blocks import next_block
from lakestream.contract.codecs.avro.kernels.memory import get, put
from lakestream.contract.codecs.avro.kernels.numbers import number_at
from lakestream.contract.codecs.avro.kernels.ops import (
    AFTER,
    BOOLEAN,
    DOUBLE,
    END,
    ENUM,
    FLOAT,
    JUMP,
    LIST,
    LONG,
    NEXT,
    NOTHING,
    OP,
    OP_CELLS,
    TEXT,
    UNION,
    A,
    B,
)
from lakestream.world.compiled.compiling import apart, small

TEXT_DEPTH_MAX = 64
"""The greatest depth of a value whose type contains itself."""


@small
def _skip_scalar(data, at, end, op, size):
    """Skip a value without parts: (fault, number about it, position)."""
    if op == BOOLEAN:
        size = 1
    elif op == FLOAT:
        size = 4
    elif op == DOUBLE:
        size = 8
    elif op == LONG or op == ENUM:
        value, at = number_at(data, at, end)
        return (faults.CUT_NUMBER if at > end else faults.OK), value, at
    if size < 0:
        size, at = number_at(data, at, end)
        if at > end:
            return faults.CUT_NUMBER, np.int64(0), at
        if size < 0:
            return faults.LENGTH, size, at
    if size > end - at:
        return faults.CUT_BYTES, size, at
    return faults.OK, size, at + size


@apart
def skip_text(data, at, end, ops, pc, stack):
    """Skip a value: (fault, number about it, position). `stack`: where to go on, or items left, at each depth."""
    depth = 0
    while True:
        base = pc * OP_CELLS
        op = get(ops, base + OP)
        if op == END:
            if depth == 0:
                return faults.OK, np.int64(0), at
            depth -= 1
            pc = get(stack, depth)
        elif op == JUMP:
            pc = get(ops, base + AFTER)
        elif op == TEXT:
            if depth == TEXT_DEPTH_MAX:
                return faults.DEPTH, np.int64(depth), at
            put(stack, depth, pc + 1)
            depth += 1
            pc = get(ops, base + A)
        elif op == UNION:
            branch, at = number_at(data, at, end)
            if at > end:
                return faults.CUT_NUMBER, np.int64(0), at
            if branch < 0 or branch >= get(ops, base + A):
                return faults.NO_BRANCH, branch, at
            pc = pc + 1 + branch
        elif op == LIST or op == NEXT:
            if op == LIST:
                if depth == TEXT_DEPTH_MAX:
                    return faults.DEPTH, np.int64(depth), at
                put(stack, depth, np.int64(0))
                depth += 1
                left = np.int64(0)
            else:
                left = get(stack, depth - 1) - 1
            if left == 0:
                fault, left, at = next_block(data, at, end, get(ops, base + B))
                if fault != faults.OK:
                    return fault, left, at
            put(stack, depth - 1, left)
            if left == 0:
                depth -= 1
                pc = get(ops, base + AFTER)
            else:
                pc = get(ops, base + A)
        elif op == NOTHING:
            pc += 1
        else:
            fault, detail, at = _skip_scalar(data, at, end, op, get(ops, base + A))
            if fault != faults.OK:
                return fault, detail, at
            pc += 1

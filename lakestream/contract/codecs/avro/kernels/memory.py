"""Unchecked memory access in arrays and by address: reading, writing, copying, and the bits of bitmaps.

Array access skips Numba's check for negative indexes.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lakestream.world.compiled.compiling import apart, small


def _pointer(context: Any, builder: Any, type: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(type)(context, builder, array).data, [at])


@intrinsic
def get(typingctx: Any, array: Any, at: Any) -> Any:
    signature = array.dtype(array, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments))

    return signature, generate


@intrinsic
def put(typingctx: Any, array: Any, at: Any, value: Any) -> Any:
    signature = types.void(array, types.int64, array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        builder.store(value, _pointer(context, builder, signature.args[0], array, at))
        return context.get_dummy_value()

    return signature, generate


def _reading(result: Any) -> Any:
    """Reads as many bytes of a byte array as the result type has, at any position, in memory order."""

    @intrinsic
    def read(typingctx: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = _pointer(context, builder, signature.args[0], *arguments)
            stored = context.get_value_type(signature.return_type)
            return builder.load(builder.bitcast(pointer, stored.as_pointer()), align=1)

        return result(array, types.int64), generate

    return read


word_at = _reading(types.uint64)
half_word_at = _reading(types.uint32)


@intrinsic
def put_word(typingctx: Any, array: Any, at: Any, value: Any) -> Any:
    """Writes as many bytes as the value's type has into a byte array."""
    signature = types.void(array, types.int64, value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        pointer = _pointer(context, builder, signature.args[0], array, at)
        builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def load(typingctx: Any, address: Any, like: Any) -> Any:
    """Reads a value of the type of `like` at an address."""
    signature = like(types.int64, like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_value_type(signature.return_type).as_pointer())
        return builder.load(pointer, align=1)

    return signature, generate


@intrinsic
def store(typingctx: Any, address: Any, value: Any) -> Any:
    """Writes as many bytes as the value's type has. Cast values first: Numba's uint8 | uint8 is a uint64."""
    signature = types.void(types.int64, value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, value = arguments
        builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def copy_in(typingctx: Any, address: Any, array: Any, at: Any, count: Any) -> Any:
    """Copies from a byte array to an address."""
    signature = types.void(types.int64, array, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, array, at, count = arguments
        source = _pointer(context, builder, signature.args[1], array, at)
        cgutils.raw_memcpy(builder, builder.inttoptr(address, source.type), source, count, 1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """The number of trailing zero bits of a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


@small
def set_bit(bitmap, bit):
    byte = bitmap + (bit >> 3)
    store(byte, np.uint8(load(byte, np.uint8(0)) | (1 << (bit & 7))))


@small
def has_bit(bitmap, bit):
    return (load(bitmap + (bit >> 3), np.uint8(0)) >> np.uint8(bit & 7)) & np.uint8(1) != np.uint8(0)


@apart
def clear_bits(bitmap, first, last):
    for bit in range(first, last + 1):
        byte = bitmap + (bit >> 3)
        store(byte, np.uint8(load(byte, np.uint8(0)) & ~(1 << (bit & 7))))

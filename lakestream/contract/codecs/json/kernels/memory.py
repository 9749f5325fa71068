"""Unchecked memory access by address: reading, writing, copying and comparing."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lakestream.world.compiled.addresses import byte_at, word_at
from lakestream.world.compiled.compiling import small


def _reading(stored: Any, result: Any, widen: str = "") -> Any:
    @intrinsic
    def read(typingctx: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], stored.as_pointer())
            value = builder.load(pointer, align=1)
            return getattr(builder, widen)(value, ir.IntType(64)) if widen else value

        return result(types.int64), generate

    return read


def _writing(stored: Any, given: Any, narrow: bool = False) -> Any:
    @intrinsic
    def write(typingctx: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], stored.as_pointer())
            value = builder.trunc(arguments[1], stored) if narrow else arguments[1]
            builder.store(value, pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, given), generate

    return write


int32_at = _reading(ir.IntType(32), types.int64, "sext")
int64_at = _reading(ir.IntType(64), types.int64)
half_word_at = _reading(ir.IntType(32), types.int64, "zext")
double_at = _reading(ir.DoubleType(), types.float64)
put_byte = _writing(ir.IntType(8), types.int64, narrow=True)
put_int16 = _writing(ir.IntType(16), types.int64, narrow=True)
put_int32 = _writing(ir.IntType(32), types.int64, narrow=True)
put_int64 = _writing(ir.IntType(64), types.int64)
_put_word = _writing(ir.IntType(64), types.uint64)
put_double = _writing(ir.DoubleType(), types.float64)


@small
def item32(array, index):
    """An item of an array, by address: Numba would check for negative indexes first."""
    return int32_at(array + 4 * index)


@small
def item64(array, index):
    return int64_at(array + 8 * index)


@small
def put_item64(array, index, value):
    put_int64(array + 8 * index, value)


@intrinsic
def _copy(typingctx: Any, to: Any, source: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, source, count = arguments
        pointer = ir.IntType(8).as_pointer()
        cgutils.raw_memcpy(builder, builder.inttoptr(to, pointer), builder.inttoptr(source, pointer), count, 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def leading_zeros(typingctx: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def high_product(typingctx: Any, one: Any, other: Any) -> Any:
    """The upper half of a product of two words."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@small
def move(to, source, count):
    """Copy bytes inline: most texts are short, and a call would take longer than the copy."""
    if count > 32:
        _copy(to, source, count)
    elif count >= 8:
        at = 0
        while at + 8 <= count:
            _put_word(to + at, word_at(source + at))
            at += 8
        _put_word(to + count - 8, word_at(source + count - 8))
    elif count >= 4:
        last = half_word_at(source + count - 4)
        put_int32(to, half_word_at(source))
        put_int32(to + count - 4, last)
    else:
        for k in range(count):
            put_byte(to + k, byte_at(source + k))


@small
def same_bytes(one, other, count):
    if count >= 8:
        at = 0
        while at + 8 <= count:
            if word_at(one + at) != word_at(other + at):
                return False
            at += 8
        return word_at(one + count - 8) == word_at(other + count - 8)
    if count >= 4:
        return half_word_at(one) == half_word_at(other) and half_word_at(one + count - 4) == half_word_at(
            other + count - 4
        )
    for k in range(count):  # noqa: SIM110  # no generators in Numba
        if byte_at(one + k) != byte_at(other + k):
            return False
    return True


@small
def set_bit(bitmap, bit):
    at = bitmap + (bit >> 3)
    put_byte(at, byte_at(at) | (1 << (bit & 7)))


@small
def has_bit(bitmap, bit):
    return bitmap == 0 or (byte_at(bitmap + (bit >> 3)) >> (bit & 7)) & 1 != 0

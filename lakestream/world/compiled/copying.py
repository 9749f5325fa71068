"""Copies bytes between arrays, and from an address into one. Nothing is checked here.

For short values, a loop or an assignment of slices takes several times as long.
"""

# mypy: disable-error-code="no-untyped-call"

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def copy(typingctx: Any, to: Any, to_at: Any, source: Any, source_at: Any, count: Any) -> Any:
    """Between one-dimensional byte arrays."""
    signature = types.void(to, types.int64, source, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, source, source_at, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        source_array = context.make_array(signature.args[2])(context, builder, source)
        to_pointer = builder.gep(to_array.data, [to_at])
        source_pointer = builder.gep(source_array.data, [source_at])
        cgutils.raw_memcpy(builder, to_pointer, source_pointer, count, 1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def copy_from(typingctx: Any, to: Any, to_at: Any, address: Any, count: Any) -> Any:
    """From an address, for values in more buffers than a function can take as arguments."""
    signature = types.void(to, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, address, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        to_pointer = builder.gep(to_array.data, [to_at])
        cgutils.raw_memcpy(builder, to_pointer, builder.inttoptr(address, to_pointer.type), count, 1)
        return context.get_dummy_value()

    return signature, generate

"""The symbols of enums: text in columns, numbers in Avro.

The symbols of all enums lie one behind the other in `symbols`; `symbol_starts` has the start of each.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels.memory import get, load
from lakestream.world.compiled.compiling import apart, small


@small
def symbol_extent(symbol_starts, number):
    """(first, count) of a symbol's bytes. `number` counts over the symbols of all enums."""
    first = get(symbol_starts, number)
    return first, get(symbol_starts, number + 1) - first


@small
def _compare(address, length, symbols, start, symbol_length):
    """Less than, equal to or greater than 0, as bytes compare."""
    for k in range(min(length, symbol_length)):
        difference = np.int64(load(address + k, np.uint8(0))) - np.int64(get(symbols, start + k))
        if difference != 0:
            return difference
    return length - symbol_length


@apart
def symbol_of(address, length, symbols, symbol_starts, ranks, first, count):
    """The number of the symbol with this text, or -1. `ranks` are the symbols' numbers in the order of their bytes."""
    low = np.int64(0)
    high = np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        symbol = get(ranks, first + middle)
        start, symbol_length = symbol_extent(symbol_starts, first + symbol)
        order = _compare(address, length, symbols, start, symbol_length)
        if order == 0:
            return symbol
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return np.int64(-1)

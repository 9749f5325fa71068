"""Gathers scattered texts into one buffer, and finds the objects of arrays."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels.compiling import kernel
from lakestream.contract.codecs.json.kernels.memory import move
from lakestream.contract.codecs.json.kernels.skipping import behind_space, nested_end, scalar_end
from lakestream.world.compiled.addresses import byte_at


@kernel
def gather(addresses, lengths, offsets, to):
    """Copy the texts of a column together; `offsets` become Arrow's."""
    at = np.int64(0)
    for row in range(lengths.size):
        length = np.int64(lengths[row])
        move(to + at, addresses[row], length)
        at += length
        offsets[row + 1] = at


@kernel
def find_objects(starts, ends, addresses, lengths):
    """Find the objects in proven arrays, in order, and return their number. Null elements are left out."""
    found = 0
    for array in range(starts.size):
        at = behind_space(starts[array] + 1, ends[array])
        while byte_at(at) != 93:
            if byte_at(at) == 123:
                _, after = nested_end(at, ends[array])
                addresses[found] = at
                lengths[found] = after - at
                found += 1
            else:
                _, after = scalar_end(at, ends[array])
            at = behind_space(after, ends[array])
            if byte_at(at) == 44:
                at = behind_space(at + 1, ends[array])
    return found

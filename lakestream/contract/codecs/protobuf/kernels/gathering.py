"""Gathers texts and bytes from their positions in the values: gather."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.compiling import kernel
from lakestream.world.compiled.copying import copy


@kernel
def gather(source, positions, lengths, offsets, out):
    """Copy texts or bytes from their positions in the values, one behind the other. False if there is no room."""
    at = np.int64(0)
    for k in range(positions.size):
        length = np.int64(lengths[k])
        offsets[k] = at
        if length:
            if length > out.size - at or positions[k] < 0 or length > source.size - positions[k]:
                return False
            copy(out, at, source, positions[k], length)
            at += length
    offsets[positions.size] = at
    return True

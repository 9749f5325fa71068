"""Checks whether the bytes of an array are valid UTF-8.

The check is inlined: keys of headers are short, and a call took a tenth of the walk over records that have some.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, unreachable, var-annotated"

from lakestream.world.compiled import utf8
from lakestream.world.compiled.addresses import address_of
from lakestream.world.compiled.compiling import small


@small
def is_utf8(buffer, at, end):
    start = address_of(buffer)
    return utf8.is_utf8(start + at, start + end)

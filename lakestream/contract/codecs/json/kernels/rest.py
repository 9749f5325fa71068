"""Collects the members of the outermost object that have no column in one column."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.finding import column_of
from lakestream.contract.codecs.json.kernels.kinds import TOP
from lakestream.contract.codecs.json.kernels.memory import item64, move, put_byte, put_item64
from lakestream.contract.codecs.json.kernels.scalars import store_text
from lakestream.contract.codecs.json.kernels.skipping import behind_space, key_at, nested_end, scalar_end
from lakestream.contract.codecs.json.kernels.strings import HALF_SURROGATE
from lakestream.contract.codecs.json.kernels.styles import UNSTYLED
from lakestream.contract.codecs.json.kernels.views import REST_END, REST_START
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart


@apart
def rest_value(at, end, row, fields, keys, work):
    """Read consecutive members without a column, from the first one's key on: (fault, position, style). They are
    appended to the row's earlier ones; a row with more than one such stretch cannot be written again."""
    start = at
    behind = at
    while True:
        fault, where, key, key_end, flags, value = key_at(at, end)
        if fault != faults.OK:
            return fault, where, UNSTYLED
        if not flags & HALF_SURROGATE:
            column, _, _ = column_of(TOP, key, key_end, flags, keys, work)
            if column >= 0:
                break
        byte = byte_at(value)
        fault, after = nested_end(value, end) if byte == 123 or byte == 91 else scalar_end(value, end)
        if fault != faults.OK:
            return fault, after, UNSTYLED
        behind = after
        at = behind_space(after, end)
        if at >= end or byte_at(at) != 44:
            break
        at = behind_space(at + 1, end)
    again = item64(work.state, REST_END) > item64(work.state, REST_START)
    to = work.rest_arena + item64(work.state, REST_END) - (1 if again else 0)
    put_byte(to, 44 if again else 123)
    move(to + 1, start, behind - start)
    to += 1 + behind - start
    put_byte(to, 125)
    put_item64(work.state, REST_END, to + 1 - work.rest_arena)
    text = work.rest_arena + item64(work.state, REST_START)
    store_text(fields, work, fields.rest, row, text, to + 1 - text, UNSTYLED)
    return faults.OK, behind, (UNSTYLED if again else styles.REST)

"""Reads arrays into lists. The elements of all lists lie in one pool, in the order of the rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.kinds import IS_ARRAY, IS_OBJECT, OBJECT
from lakestream.contract.codecs.json.kernels.memory import item64, put_int32, put_int64, put_item64, set_bit
from lakestream.contract.codecs.json.kernels.scalars import (
    is_misfit,
    number_value,
    store_text,
    string_value,
    word_value,
)
from lakestream.contract.codecs.json.kernels.skipping import NULL, behind_space, is_word, nested_end, scalar_end
from lakestream.contract.codecs.json.kernels.styles import UNSTYLED
from lakestream.contract.codecs.json.kernels.views import POOL
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import small


@small
def _element_value(at, end, row, column, declared, fields, work):
    """`value_at` for an element of a list: an element that has parts does not fit."""
    kind = item64(fields.kind, column)
    byte = byte_at(at)
    if byte == 34:
        fault, after, style, value_kind = string_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 45 or 48 <= byte <= 57:
        fault, after, style, value_kind = number_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 116 or byte == 102:
        fault, after, style, value_kind = word_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 123 and kind == OBJECT:
        fault, after = nested_end(at, end)
        style, value_kind = styles.RAW, IS_OBJECT
        if fault == faults.OK:
            store_text(fields, work, column, row, at, after - at, styles.RAW)
    elif byte == 123 or byte == 91:
        fault, after = nested_end(at, end)
        if fault == faults.OK and declared:
            fault = faults.MISFIT
        style, value_kind = UNSTYLED, 0
    elif byte == 110 and is_word(at, end, 4, NULL):
        fault, after, style, value_kind = faults.OK, at + 4, styles.NULL, 0
    else:
        fault, after = scalar_end(at, end)
        style, value_kind = UNSTYLED, 0
    return fault, (at if is_misfit(fault) else after), style, value_kind


@small
def list_value(at, end, row, column, declared, fields, work):
    """Read an array of elements of one kind. All of them are written back in one style, that of the last."""
    element = item64(fields.element, column)
    spaced = item64(work.hint, column) >= styles.SPACED
    styled = True
    first = item64(work.state, POOL)
    count = 0
    at += 1
    value = behind_space(at, end)
    if value < end and byte_at(value) == 93:
        styled = value == at
        at = value
    else:
        while True:
            if value >= end:
                return faults.CUT_OFF, value, UNSTYLED, 0
            fault, at, style, _ = _element_value(value, end, first + count, element, declared, fields, work)
            count += 1
            put_item64(work.state, POOL, first + count)  # also for a row that fails: its places are not clean
            if fault != faults.OK:
                return fault | faults.IN_ELEMENT, at, UNSTYLED, 0
            styled = styled and style != UNSTYLED
            after = behind_space(at, end)
            if after >= end:
                return faults.CUT_OFF, after, UNSTYLED, 0
            styled = styled and after == at
            at = after
            if byte_at(at) == 93:
                break
            if byte_at(at) != 44:
                return faults.NO_COMMA, at, UNSTYLED, 0
            value = behind_space(at + 1, end)
            if count == 1:
                spaced = value > at + 1
            styled = styled and value - at - 1 == (1 if spaced else 0)
    put_int64(item64(fields.values, column) + 8 * row, first)
    put_int32(item64(fields.lengths, column) + 4 * row, count)
    set_bit(item64(fields.valid, column), row)
    if not styled:
        return faults.OK, at + 1, UNSTYLED, IS_ARRAY
    style = (styles.SPACED if spaced else styles.LISTS) + item64(work.hint, element)
    put_int64(work.hint + 8 * column, style)
    return faults.OK, at + 1, style, IS_ARRAY

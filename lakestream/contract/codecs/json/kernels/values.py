"""Reads a value of any kind into its column."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.kinds import DEEPER, IS_OBJECT, LIST, NOTHING, STRUCT
from lakestream.contract.codecs.json.kernels.lists import list_value
from lakestream.contract.codecs.json.kernels.memory import item64
from lakestream.contract.codecs.json.kernels.scalars import (
    holds_raw,
    is_misfit,
    number_value,
    store_text,
    string_value,
    word_value,
)
from lakestream.contract.codecs.json.kernels.skipping import NULL, array_kinds, is_word, nested_end, scalar_end
from lakestream.contract.codecs.json.kernels.styles import UNSTYLED
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small


@apart
def _nested_value(at, end, row, column, kind, declared, fields, work):
    is_object = byte_at(at) == 123
    if kind == STRUCT and is_object:
        return DEEPER, at, UNSTYLED, 0
    if kind == LIST and not is_object:
        return list_value(at, end, row, column, declared, fields, work)
    fault, after = nested_end(at, end)
    if fault != faults.OK:
        return fault, after, UNSTYLED, 0
    if holds_raw(kind, declared):
        store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_OBJECT
    if column < 0 and not is_object:
        after, kinds = array_kinds(at, end)
        return faults.OK, after, UNSTYLED, kinds
    if declared and kind != NOTHING:
        return faults.MISFIT, at, UNSTYLED, IS_OBJECT
    return faults.OK, after, UNSTYLED, IS_OBJECT


@small
def value_at(at, end, row, column, declared, fields, work):
    """(fault, position behind the value or of the fault, style, kind of value; 0: null)"""
    kind = item64(fields.kind, column) if column >= 0 else NOTHING
    byte = byte_at(at)
    if byte == 34:
        fault, after, style, value_kind = string_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 45 or 48 <= byte <= 57:
        fault, after, style, value_kind = number_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 116 or byte == 102:
        fault, after, style, value_kind = word_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 110:
        ok = is_word(at, end, 4, NULL)
        return (faults.OK if ok else faults.LITERAL), (at + 4 if ok else at), styles.NULL, 0
    elif byte == 123 or byte == 91:
        fault, after, style, value_kind = _nested_value(at, end, row, column, kind, declared, fields, work)
    else:
        fault, after = scalar_end(at, end)
        return fault, after, UNSTYLED, 0
    if is_misfit(fault):
        after = at
    return fault, after, style, value_kind

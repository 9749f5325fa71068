"""JSON that is a single value, not an object: text, a number, true or false. Keys often are.

    "abc" -> {"value":"abc"} -> the codec of JSON objects -> the column `value`

So the rules of every other field apply to a single value, too.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.contract.columns.from_avro import ROOT_KEY
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LONG, STRING
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.json_schema.document import JsonSchema
from lakestream.contract.registry.json_schema.keywords import followed, keywords_of, types_of

_LOOKS_SINGLE = r'^[ \t\r\n]*(?:"(?:[^"\\]|\\.)*"|[-0-9][-+.0-9eE]*|true|false|null)[ \t\r\n]*$'
"""Matches one value with nothing behind it: a suffix could become a second member of the object around it."""
_BEFORE, _AFTER = f'{{"{ROOT_KEY}":'.encode(), b"}"
_KINDS = {"integer": LONG, "number": DOUBLE, "boolean": BOOLEAN, "string": STRING}


def look_single(values: pa.BinaryArray) -> NDArray[np.bool_]:
    """Which values are single values, if they are JSON at all. `values` has no nulls."""
    found: NDArray[np.bool_] = pc.match_substring_regex(values, _LOOKS_SINGLE).to_numpy(zero_copy_only=False)
    return found


def as_objects(values: pa.BinaryArray) -> pa.BinaryArray:
    return pc.binary_join_element_wise(pa.scalar(_BEFORE, pa.binary()), values, pa.scalar(_AFTER, pa.binary()), b"")


def bare_reason(reason: str) -> str:
    """The reason, without the position in the added object."""
    return reason.partition(": ")[2] or reason


def wanted_single(schema: JsonSchema) -> tuple[Wanted, ...]:
    """The column for values that are no objects, if the schema allows some of one simple type."""
    types = types_of(keywords_of(followed(schema.root))) - {"null"}
    kinds = [_KINDS[one] for one in types if one in _KINDS]
    return (Wanted(key=ROOT_KEY, kind=kinds[0]),) if len(types) == len(kinds) == 1 else ()

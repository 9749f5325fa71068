"""What values are, by the first of them: framed by a schema id, JSON objects, or anything else.

Only for topics that were not told. What was found is recorded with the table and not asked again.
"""

import json

import pyarrow as pa

from lakestream.contract.values.frames import UNFRAMED, schema_ids
from lakestream.contract.values.topic_contract import Needs, ValueMode

SAMPLE_RECORDS = 64
SAMPLE_BYTES_MAX = 64 * 1024
"""Of one value. A larger one is not looked at: it tells no more than others."""


def detected(values: pa.BinaryArray) -> Needs | None:
    """None where there is no value yet to tell by."""
    present = values.drop_null().slice(0, SAMPLE_RECORDS)
    if not len(present):
        return None
    ids = schema_ids(present)
    framed = ids[ids != UNFRAMED].tolist()
    if _are_most(len(framed), present):
        return Needs(detected=ValueMode.FRAMED, schema_ids=frozenset(framed))
    if _are_most(sum(_is_object(value.as_py()) for value in present), present):
        return Needs(detected=ValueMode.PLAIN)
    return Needs(detected=ValueMode.RAW)


def _are_most(count: int, values: pa.BinaryArray) -> bool:
    """Three in four: a few broken records do not make a topic one of bytes."""
    return 4 * count >= 3 * len(values)


def _is_object(value: bytes) -> bool:
    if len(value) > SAMPLE_BYTES_MAX:
        return value.lstrip()[:1] == b"{"
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False

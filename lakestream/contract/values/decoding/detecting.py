"""Detects the format of a topic's values from its first ones: framed by a schema id, JSON objects, or anything else.

For Protobuf it also finds the message in its file. Only topics without a configured format need this. The result is
recorded with the table and never detected again.
"""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.protobuf.prefix import indexes_in
from lakestream.contract.topic.topic_contract import Needs, ValueMode
from lakestream.contract.values.frames import FRAME_BYTES, UNFRAMED, schema_ids

SAMPLE_RECORDS = 64
SAMPLE_BYTES_MAX = 64 * 1024
"""The limit of one value. A larger one is not parsed: it would show no more than others."""


def detected(values: pa.BinaryArray) -> Needs | None:
    """The needs that the first values show; None if there is no value yet."""
    present = values.drop_null().slice(0, SAMPLE_RECORDS)
    if not len(present):
        return None
    ids = schema_ids(present)
    if _are_most(int((ids != UNFRAMED).sum()), present):
        found = needed_schemas(present, ids)
        return found._replace(detected=ValueMode.FRAMED)
    if _are_most(sum(_is_object(value.as_py()) for value in present), present):
        return Needs(detected=ValueMode.PLAIN)
    return Needs(detected=ValueMode.RAW)


def needed_schemas(values: pa.BinaryArray, ids: NDArray[np.int64]) -> Needs:
    """The schemas that framed values name. `ids` has one entry for each value; unframed values are skipped."""
    wanted = sorted({*ids.tolist()} - {UNFRAMED})
    places = {id: _place_of_message(values.filter(pa.array(ids == id))) for id in wanted}
    return Needs(schema_ids=frozenset(wanted), places={id: place for id, place in places.items() if place})


def _place_of_message(values: pa.BinaryArray) -> tuple[int, ...] | None:
    """The place that most of the first values name, if they are Protobuf; the first of several equally frequent
    ones."""
    sample = [value.as_py()[FRAME_BYTES : FRAME_BYTES + SAMPLE_BYTES_MAX] for value in values[:SAMPLE_RECORDS]]
    said = Counter(place for place in map(indexes_in, sample) if place is not None)
    return said.most_common(1)[0][0] if said else None


def _are_most(count: int, values: pa.BinaryArray) -> bool:
    """Whether three in four are: a few broken records must not make a topic one of bytes."""
    return 4 * count >= 3 * len(values)


def _is_object(value: bytes) -> bool:
    if len(value) > SAMPLE_BYTES_MAX:
        return value.lstrip()[:1] == b"{"
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False

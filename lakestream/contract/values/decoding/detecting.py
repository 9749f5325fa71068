"""What values are, by the first of them: framed by a schema id, JSON objects, or anything else; and, if they are
Protobuf, which message of its file.

Only for topics that were not told. What was found is recorded with the table and not asked again.
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
"""Of one value. A larger one is not looked at: it tells no more than others."""


def detected(values: pa.BinaryArray) -> Needs | None:
    """None where there is no value yet to tell by."""
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
    """The schemas that framed values name. `ids` are those in front of them; others are passed over."""
    wanted = sorted({*ids.tolist()} - {UNFRAMED})
    places = {id: _place_of_message(values.filter(pa.array(ids == id))) for id in wanted}
    return Needs(schema_ids=frozenset(wanted), places={id: place for id, place in places.items() if place})


def _place_of_message(values: pa.BinaryArray) -> tuple[int, ...] | None:
    """What most of the first of them say, should they be Protobuf; of equals the one that came first."""
    sample = [value.as_py()[FRAME_BYTES : FRAME_BYTES + SAMPLE_BYTES_MAX] for value in values[:SAMPLE_RECORDS]]
    said = Counter(place for place in map(indexes_in, sample) if place is not None)
    return said.most_common(1)[0][0] if said else None


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

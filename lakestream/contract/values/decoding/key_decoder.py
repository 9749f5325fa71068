"""Decodes a topic's keys to columns: each by its own writer, many at once.

    keys -> by writer -> without frame -> codec -> columns        an unreadable key: null, and counted

JSON keys that are no objects have a column of their own. The table also has the bytes of every key, so only queries
depend on these columns: no key is set aside, and the columns need not give bytes back.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, ValueCodec, Writer
from lakestream.contract.codecs.json.single_value import as_objects, look_single
from lakestream.contract.columns.arrow import arrow_schema, arrow_type
from lakestream.contract.topic.key_columns import KeyPlace, key_place, whole_place
from lakestream.contract.topic.topic_contract import KeyContract, Needs, TopicContract, ValueMode
from lakestream.contract.values.binding import bind
from lakestream.contract.values.decoding.detecting import SAMPLE_RECORDS, needed_schemas
from lakestream.contract.values.frames import UNFRAMED, schema_ids, without_frame

_NONE = np.zeros(0, np.bool_)
_Parts = dict[int, list[tuple[NDArray[np.int64], pa.Array]]]
"""By the id of a column: arrays, and the rows that they belong to."""


@dataclass(frozen=True, slots=True)
class _Bound:
    codec: ValueCodec
    place: KeyPlace


class KeyDecoder:
    def __init__(self, contract: TopicContract, key: KeyContract) -> None:
        self._key = key
        self._layout = contract.layout
        self._writers = {writer.number: writer for writer in key.writers}
        self._bound: dict[int, _Bound] = {}
        self._bound_to_single: dict[int, _Bound] = {}
        self.schema = arrow_schema(contract.layout.key_columns)
        self.needs = Needs()
        self.unread = 0
        """Keys that broke their format."""

    def decode(self, keys: pa.BinaryArray) -> list[pa.Array]:
        """The columns of the schema, a row for each key. Never fails, whatever the keys are."""
        parts: _Parts = {}
        present = np.flatnonzero(keys.is_valid().to_numpy(zero_copy_only=False))
        if self._key.mode is ValueMode.FRAMED:
            ids = schema_ids(_taken(keys, present))
            for id in np.unique(ids).tolist():
                self._decode_framed(id, keys, present[ids == id], parts)
        elif len(present):
            self._decode_by(self._key.writers[0], keys, present, parts)
        columns = self._layout.key_columns
        return [_in_order(parts.get(one.id, []), arrow_type(one), len(keys)) for one in columns]

    def _decode_framed(
        self,
        id: int,
        keys: pa.BinaryArray,
        rows: NDArray[np.int64],
        parts: _Parts,
    ) -> None:
        writer = self._writers.get(id)
        if writer is not None:
            self._decode_by(writer, keys, rows, parts)
            return
        self.unread += len(rows)
        if id != UNFRAMED and id not in self._key.unfit:
            first = keys.take(pa.array(rows[:SAMPLE_RECORDS]))
            self.needs = self.needs.joined(needed_schemas(first, np.full(len(first), id)))

    def _decode_by(
        self,
        writer: Writer,
        keys: pa.BinaryArray,
        rows: NDArray[np.int64],
        parts: _Parts,
    ) -> None:
        own = _taken(keys, rows)
        bare = without_frame(own) if writer.framed else own
        is_single = look_single(bare) if writer.format == "json" else _NONE
        if is_single.any():
            self._decode_single(writer, _taken(bare, np.flatnonzero(is_single)), rows[is_single], parts)
            bare, rows = _taken(bare, np.flatnonzero(~is_single)), rows[~is_single]
        if len(rows):
            self._decode_whole(writer, bare, rows, parts)

    def _decode_whole(
        self,
        writer: Writer,
        keys: pa.BinaryArray,
        rows: NDArray[np.int64],
        parts: _Parts,
    ) -> None:
        bound = self._bound.get(writer.number)
        if bound is None:
            bound = self._bound[writer.number] = self._bind(writer, key_place(writer, self._layout))
        decoded = bound.codec.decode(keys)
        if decoded.unknown:
            self.needs = self.needs.joined(Needs(keys=decoded.unknown))
        self._add(bound, decoded, rows, parts)

    def _decode_single(
        self,
        writer: Writer,
        keys: pa.BinaryArray,
        rows: NDArray[np.int64],
        parts: _Parts,
    ) -> None:
        bound = self._bound_to_single.get(writer.number)
        if bound is None:
            bound = self._bound_to_single[writer.number] = self._bind(writer, whole_place(self._layout))
        decoded = bound.codec.decode(as_objects(keys))
        for kind in decoded.unknown.values():
            self.needs = self.needs.joined(Needs(single=str(kind)))
        self._add(bound, decoded, rows, parts)

    def _bind(self, writer: Writer, place: KeyPlace) -> _Bound:
        return _Bound(bind(writer, place.inner, declared=self._key.declared), place)

    def _add(
        self,
        bound: _Bound,
        decoded: Decoded,
        rows: NDArray[np.int64],
        parts: _Parts,
    ) -> None:
        self.unread += len(decoded.errors.rows)
        if bound.place.column is not None:
            parts.setdefault(bound.place.column.id, []).append((rows, _column(bound.place, decoded)))


def _column(place: KeyPlace, decoded: Decoded) -> pa.Array:
    if not place.is_record:
        return decoded.columns.column(0)
    assert place.column is not None
    is_bad = np.zeros(decoded.columns.num_rows, np.bool_)
    is_bad[decoded.errors.rows] = True
    fields = list(arrow_type(place.column))
    return pa.StructArray.from_arrays(decoded.columns.columns, fields=fields, mask=pa.array(is_bad))


def _in_order(parts: list[tuple[NDArray[np.int64], pa.Array]], kind: pa.DataType, count: int) -> pa.Array:
    """The parts at their rows; null between them."""
    if not parts:
        return pa.nulls(count, kind)
    if len(parts) == 1 and len(parts[0][0]) == count:
        return parts[0][1]
    places = np.full(count, -1, np.int64)
    places[np.concatenate([rows for rows, _ in parts])] = np.arange(sum(len(rows) for rows, _ in parts))
    return pa.concat_arrays([array for _, array in parts]).take(pa.array(places, mask=places < 0))


def _taken(keys: pa.BinaryArray, rows: NDArray[np.int64]) -> pa.BinaryArray:
    return keys if len(rows) == len(keys) else keys.take(pa.array(rows))

"""Restores values from columns, by the rules in a file's footer, for replay."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import ValueCodec
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.values.binding import bind
from lakestream.contract.values.frames import with_frame
from lakestream.contract.values.rules import Rules
from lakestream.model.row_form import Form

FORM, WRITER, SHAPE, VALUE = "__form", "__schema", "__shape", "__value"
"""The columns of a file that determine how each of its rows is read."""
KEPT_MAX = 64
"""Sets of rules that stay bound. Files of one topic mostly share theirs, or differ only in their shapes."""


class ContractRestorer:
    """Safe for many threads at once: encoding changes nothing."""

    def __init__(self) -> None:
        self._bound_by = lru_cache(maxsize=KEPT_MAX)(_bound)

    def restore(self, rules: str, rows: pa.RecordBatch) -> pa.Array:
        forms = rows.column(FORM).to_numpy()
        written = np.flatnonzero(forms == Form.COLUMNS)
        kept = rows.column(VALUE)
        if not len(written):
            return kept
        values, order = self._bound_by(rules).written(rows, written)
        places = np.full(len(kept), -1, np.int64)
        places[order] = np.arange(len(order))
        if len(written) < len(kept):
            return pc.coalesce(kept, values.take(pa.array(places, mask=places < 0)))
        return values if (np.diff(places) > 0).all() else values.take(pa.array(places))


class _Bound(NamedTuple):
    schema: pa.Schema
    codecs: dict[int, tuple[ValueCodec, bool]]
    """By the writer's number, and whether its values are framed."""

    def written(self, rows: pa.RecordBatch, wanted: NDArray[np.int64]) -> tuple[pa.BinaryArray, NDArray[np.int64]]:
        """(values, and the rows they belong to). Raises ValueError, LookupError."""
        columns = pa.RecordBatch.from_arrays(
            [_as(rows.column(field.name), field.type) for field in self.schema], schema=self.schema
        )
        writers = rows.column(WRITER)
        numbers = pc.fill_null(writers, -1).to_numpy()[wanted]
        shapes = pc.fill_null(rows.column(SHAPE), -1).to_numpy()
        values, order = [], []
        for number in np.unique(numbers).tolist():
            codec, framed = self.codecs[number]
            own = wanted[numbers == number]
            whole = len(own) == rows.num_rows
            encoded = codec.encode(columns if whole else columns.take(pa.array(own)), shapes[own])
            values.append(with_frame(encoded, number) if framed else encoded)
            order.append(own)
        return pa.concat_arrays(values), np.concatenate(order)


def _bound(text: str) -> _Bound:
    rules = Rules.from_text(text)
    codecs: dict[int, tuple[ValueCodec, bool]] = {}
    for writer in rules.writers:
        codec = bind(writer, rules.layout)
        codec.shapes = list(rules.shapes.get(writer.number, ()))
        codecs[writer.number] = (codec, writer.framed)
    return _Bound(arrow_schema(rules.layout.columns), codecs)


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)

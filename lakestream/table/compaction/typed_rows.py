"""Typed rows: a stretch's values become columns under the topic's contract; some rows are kept from SQL.

stretch -> decoded -> rows for everyone
                   -> rows for `log` alone: set aside, tombstones (unless they are kept), batches nobody can read
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.values.decoder import TypedValues, ValueDecoder
from lakestream.contract.values.topic_contract import TopicContract
from lakestream.model.row_form import Form
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.tablefile.columns import ERROR, FORM, SCHEMA_ID, SHAPE
from lakestream.storage.tablefile.stretch import Stretch

_VALUE_AT = SCHEMA.get_field_index("value")
UNREADABLE = "the batch cannot be read"


class TypedRows:
    def __init__(self, contract: TopicContract) -> None:
        self.schema = arrow_schema(contract.layout.columns)
        self.decoder = ValueDecoder(contract)
        self._tombstones_kept = contract.tombstones_kept

    def split(self, stretch: Stretch) -> Iterator[tuple[bool, Stretch]]:
        """(whether it is for `log` alone, rows), each at most once."""
        if stretch.is_raw:
            yield True, replace(stretch, typed=self._raw())
            return
        values = self.decoder.decode(stretch.rows.column("value"))
        rows = stretch.rows.set_column(_VALUE_AT, SCHEMA.field(_VALUE_AT), values.kept)
        typed = replace(stretch, rows=rows, typed=_columns(values))
        hidden = values.forms == Form.QUARANTINED
        if not self._tombstones_kept:
            hidden |= values.forms == Form.NULL
        if not hidden.any():
            yield False, typed
            return
        for for_log, mask in ((False, ~hidden), (True, hidden)):
            part = typed.where(pa.array(mask))
            if part is not None:
                yield for_log, part

    def _raw(self) -> pa.RecordBatch:
        user = [pa.nulls(1, field.type) for field in self.schema]
        hidden = [pa.array([int(Form.RAW_BATCH)], pa.int32()), *(pa.nulls(1, pa.int32()) for _ in range(2))]
        return _named(self.schema, [*user, *hidden, pa.array([UNREADABLE])])


def quarantined(stretch: Stretch) -> Stretch | None:
    """Those of its rows that were set aside."""
    assert stretch.typed is not None
    forms = stretch.typed.column(FORM).to_numpy()
    return stretch.where(pa.array(forms == np.int32(Form.QUARANTINED)))


def _columns(values: TypedValues) -> pa.RecordBatch:
    hidden = [pa.array(values.forms), values.writers, values.shapes, values.errors]
    return _named(values.columns.schema, [*values.columns.columns, *hidden])


def _named(user: pa.Schema, columns: list[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, names=[*user.names, FORM, SCHEMA_ID, SHAPE, ERROR])

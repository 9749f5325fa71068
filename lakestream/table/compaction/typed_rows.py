"""Turns the values and keys of a stretch into columns under the topic's contract, and hides some rows from SQL.

stretch -> decoded -> rows for everyone
                   -> rows for `log` alone: set aside, tombstones (unless they are kept), batches nobody can read
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.topic.topic_contract import Needs, TopicContract
from lakestream.contract.values.decoding.decoder import ValueDecoder
from lakestream.contract.values.decoding.key_decoder import KeyDecoder
from lakestream.model.row_form import Form
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.tablefile.format.columns import ERROR, FORM, SCHEMA_ID, SHAPE
from lakestream.storage.tablefile.write.stretch import Stretch

_VALUE_AT = SCHEMA.get_field_index("value")
UNREADABLE = "the batch cannot be read"


class TypedRows:
    def __init__(self, contract: TopicContract) -> None:
        self.schema = arrow_schema(contract.layout.columns)
        self.decoder = ValueDecoder(contract)
        key = contract.key
        self._keys = KeyDecoder(contract, key) if key is not None and key.is_typed else None
        self._hides_tombstones = contract.is_typed and not contract.tombstones_kept

    @property
    def key_schema(self) -> pa.Schema:
        return pa.schema([]) if self._keys is None else self._keys.schema

    @property
    def needs(self) -> Needs:
        of_keys = None if self._keys is None else self._keys.needs
        return self.decoder.needs._replace(of_keys=of_keys or None)

    @property
    def unread_keys(self) -> int:
        return 0 if self._keys is None else self._keys.unread

    def split(self, stretch: Stretch) -> Iterator[tuple[bool, Stretch]]:
        """Pairs of (whether the rows are for `log` alone, rows), each at most once."""
        if stretch.is_raw:
            yield True, replace(stretch, typed=self._raw())
            return
        values = self.decoder.decode(stretch.rows.column("value"))
        rows = stretch.rows.set_column(_VALUE_AT, SCHEMA.field(_VALUE_AT), values.kept)
        hidden_columns = [pa.array(values.forms), values.writers, values.shapes, values.errors]
        typed = self.rows(values.columns.columns, hidden_columns, stretch.rows.column("key"))
        whole = replace(stretch, rows=rows, typed=typed)
        hidden = values.forms == Form.QUARANTINED
        if self._hides_tombstones:
            hidden |= values.forms == Form.NULL
        if not hidden.any():
            yield False, whole
            return
        for for_log, mask in ((False, ~hidden), (True, hidden)):
            part = whole.where(pa.array(mask))
            if part is not None:
                yield for_log, part

    def rows(self, user: Sequence[pa.Array], hidden: Sequence[pa.Array], keys: pa.BinaryArray) -> pa.RecordBatch:
        """The columns of a file besides the records: the user's columns, hidden ones, and the columns of keys."""
        of_keys = [] if self._keys is None else self._keys.decode(keys)
        names = [*self.schema.names, FORM, SCHEMA_ID, SHAPE, ERROR, *self.key_schema.names]
        return pa.RecordBatch.from_arrays([*user, *hidden, *of_keys], names=names)

    def _raw(self) -> pa.RecordBatch:
        user = [pa.nulls(1, field.type) for field in self.schema]
        hidden = [pa.array([int(Form.RAW_BATCH)], pa.int32()), *(pa.nulls(1, pa.int32()) for _ in range(2))]
        return self.rows(user, [*hidden, pa.array([UNREADABLE])], pa.nulls(1, pa.binary()))


def quarantined(stretch: Stretch) -> Stretch | None:
    """The rows of the stretch that were set aside."""
    assert stretch.typed is not None
    forms = stretch.typed.column(FORM).to_numpy()
    return stretch.where(pa.array(forms == np.int32(Form.QUARANTINED)))

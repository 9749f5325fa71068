"""Decodes a topic's values: each by its own writer, many at once. Unreadable values are set aside with the reason.

    values -> by writer -> without frame -> codec -> columns      exact: the columns alone, no bytes
                                                  -> not exact:   the columns, and the bytes as well
                                                  -> error:       the bytes and the reason: set aside

A topic may keep the bytes of every value, or of none that its columns hold (`lakestream.table.value`).

Decoding never fails, whatever the values are. `needs` collects facts that the contract does not know yet; the caller
may try again with a contract that has grown.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, ValueCodec, Writer
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.topic.topic_contract import Needs, TopicContract, ValueMode
from lakestream.contract.values.binding import bind
from lakestream.contract.values.decoding.detecting import SAMPLE_RECORDS, needed_schemas
from lakestream.contract.values.decoding.restating import restated
from lakestream.contract.values.frames import UNFRAMED, schema_ids, without_frame
from lakestream.contract.values.rules import Rules
from lakestream.model.configs.value_configs import ValueKeeping
from lakestream.model.row_form import Form

_NO_SHAPE = -1


class TypedValues(NamedTuple):
    """One row for each value."""

    columns: pa.RecordBatch
    kept: pa.BinaryArray
    """The bytes of the values that their columns do not give back."""
    forms: NDArray[np.int32]
    writers: pa.Int32Array
    """The number of the writer; null if it is not known."""
    shapes: pa.Int32Array
    errors: pa.StringArray


class ValueDecoder:
    def __init__(self, contract: TopicContract) -> None:
        self._contract = contract
        self._schema = arrow_schema(contract.layout.columns)
        self._writers = {writer.number: writer for writer in contract.writers}
        self._codecs: dict[int, ValueCodec] = {}
        self._has_restated = False
        self.needs = Needs()

    @property
    def schema(self) -> pa.Schema:
        """The typed columns."""
        return self._schema

    def rules(self) -> Rules:
        """How the values decoded so far are read back."""
        used = tuple(self._writers[number] for number in self._codecs)
        shapes = {number: codec.shapes for number, codec in self._codecs.items()}
        return Rules(self._contract.layout, used, shapes, restated=self._has_restated)

    def decode(self, values: pa.BinaryArray) -> TypedValues:
        gathered = _Gathered(len(values))
        is_null = values.is_null().to_numpy(zero_copy_only=False)
        present = np.flatnonzero(~is_null)
        gathered.forms[is_null] = Form.NULL
        if not self._contract.is_typed:
            gathered.forms[present] = Form.BYTES  # only keys are typed
        elif self._contract.mode is ValueMode.FRAMED:
            self._decode_framed(values, present, gathered)
        elif len(present):
            self._decode_by(self._contract.writers[0], values, present, gathered)
        return gathered.typed(values, self._schema)

    def _decode_framed(self, values: pa.BinaryArray, present: NDArray[np.int64], gathered: "_Gathered") -> None:
        ids = schema_ids(_taken(values, present))
        for id in _different(ids):
            rows = present[ids == id]
            writer = self._writers.get(id)
            if writer is not None:
                self._decode_by(writer, values, rows, gathered)
            else:
                gathered.refuse(rows, self._why_not(id, values, rows))

    def _why_not(self, id: int, values: pa.BinaryArray, rows: NDArray[np.int64]) -> str:
        if id == UNFRAMED:
            return "the value does not begin with a zero and a schema id"
        if id in self._contract.unfit:
            return f"schema {id}: {self._contract.unfit[id]}"
        first = values.take(pa.array(rows[:SAMPLE_RECORDS]))
        self.needs = self.needs.joined(needed_schemas(first, np.full(len(first), id)))
        return f"schema {id} is not in the registry"

    def _decode_by(
        self, writer: Writer, values: pa.BinaryArray, rows: NDArray[np.int64], gathered: "_Gathered"
    ) -> None:
        codec = self._codecs.get(writer.number)
        if codec is None:
            codec = bind(writer, self._contract.layout, declared=self._contract.declared)
            self._codecs[writer.number] = codec
        own = _taken(values, rows)
        bare = without_frame(own) if writer.framed else own
        decoded = self._as_kept(writer, codec, bare, codec.decode(bare))
        if not len(self._schema) and decoded.shapes is None:
            decoded = decoded._replace(exact=np.zeros(len(own), np.bool_))  # Arrow does not count rows without columns
        if decoded.unknown:
            self.needs = self.needs.joined(Needs(keys=decoded.unknown))
        gathered.add(writer.number, rows, decoded)

    def _as_kept(self, writer: Writer, codec: ValueCodec, values: pa.BinaryArray, decoded: Decoded) -> Decoded:
        """The decoded rows, with `exact` set for those that store no bytes of their own."""
        if self._contract.keeping is ValueKeeping.ALWAYS:
            return decoded._replace(exact=np.zeros(len(values), np.bool_))
        if self._contract.keeping is not ValueKeeping.NEVER:
            return decoded
        anew = restated(writer, codec, values, decoded)
        self._has_restated |= anew is not decoded
        return anew


def _taken(values: pa.BinaryArray, rows: NDArray[np.int64]) -> pa.BinaryArray:
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def _different(ids: NDArray[np.int64]) -> list[int]:
    """The distinct ids. Mostly there is one: then nothing is sorted."""
    found: list[int] = (ids[:1] if (ids == ids[:1]).all() else np.unique(ids)).tolist()
    return found


def _where(keeps: NDArray[np.bool_], values: pa.BinaryArray) -> pa.BinaryArray:
    """The kept values, and null for the others. (Arrow's `if_else` also copies the bytes of the others, which would
    stay in memory behind the nulls.)"""
    if keeps.all():
        return values
    if not keeps.any():
        return pa.nulls(len(values), pa.binary())
    return values.take(pa.array(np.arange(len(values)), mask=~keeps))


class _Gathered:
    """Collects the results by writer, and puts them back into the order of the values."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.forms = np.full(count, Form.QUARANTINED, np.int32)
        self._parts: list[tuple[NDArray[np.int64], pa.RecordBatch]] = []
        self._writers = np.full(count, -1, np.int32)
        self._shapes = np.full(count, _NO_SHAPE, np.int32)
        self._errors: dict[int, str] = {}
        self._refused: list[tuple[NDArray[np.int64], str]] = []

    def add(self, number: int, rows: NDArray[np.int64], decoded: Decoded) -> None:
        self._parts.append((rows, decoded.columns))
        places = slice(None) if len(rows) == self._count else rows
        self.forms[places] = np.where(decoded.exact, Form.COLUMNS, Form.BYTES)
        self._writers[places] = number
        if decoded.shapes is not None:
            self._shapes[places] = decoded.shapes
        self._add_errors(rows, decoded.errors)

    def _add_errors(self, rows: NDArray[np.int64], errors: Errors) -> None:
        bad = rows[np.array(errors.rows, np.int64)] if errors.rows else rows[:0]
        self.forms[bad] = Form.QUARANTINED
        self._errors.update(zip(bad.tolist(), errors.reasons, strict=True))

    def refuse(self, rows: NDArray[np.int64], reason: str) -> None:
        self._refused.append((rows, reason))

    def typed(self, values: pa.BinaryArray, schema: pa.Schema) -> TypedValues:
        keeps = (self.forms == Form.BYTES) | (self.forms == Form.QUARANTINED)
        return TypedValues(
            columns=self._columns(schema),
            kept=_where(keeps, values),
            forms=self.forms,
            writers=pa.array(self._writers, mask=self._writers < 0),
            shapes=pa.array(self._shapes, mask=(self._shapes < 0) | (self.forms != Form.COLUMNS)),
            errors=self._reasons(),
        )

    def _columns(self, schema: pa.Schema) -> pa.RecordBatch:
        if not self._parts or not len(schema):
            return _nulls(schema, self._count)
        if len(self._parts) == 1 and len(self._parts[0][0]) == self._count:
            return self._parts[0][1]
        decoded = pa.concat_batches([columns for _, columns in self._parts])
        places = np.full(self._count, -1, np.int64)
        places[np.concatenate([rows for rows, _ in self._parts])] = np.arange(decoded.num_rows)
        return decoded.take(pa.array(places, mask=places < 0))

    def _reasons(self) -> pa.StringArray:
        if not self._errors and not self._refused:
            return pa.nulls(self._count, pa.string())
        reasons: NDArray[np.object_] = np.full(self._count, None, object)
        for rows, reason in self._refused:
            reasons[rows] = reason
        for row, reason in self._errors.items():
            reasons[row] = reason
        return pa.array(reasons, pa.string())


def _nulls(schema: pa.Schema, count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(count, field.type) for field in schema], schema=schema)

"""Text values: one column with the key "value". Every row that is UTF-8 is exact; others are errors."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, Writer
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.column import find
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

CODEC_VERSION = 1
KEY = "value"


def wanted_columns() -> tuple[Wanted, ...]:
    return (Wanted(key=KEY, kind=STRING),)


def bind(writer: Writer, layout: Layout) -> "StringCodec":
    if writer.codec != CODEC_VERSION:
        raise ValueError(f"the values were written by version {writer.codec} of the rules for text: update Lakestream")
    return StringCodec(layout)


class StringCodec:
    def __init__(self, layout: Layout) -> None:
        self.shapes: list[str] = []
        self._schema = arrow_schema(layout.columns)
        found = find(layout.columns, KEY)
        self._column = layout.columns.index(found) if found is not None and found.kind == STRING else None

    def decode(self, values: pa.BinaryArray) -> Decoded:
        errors = _errors(values)
        bad = np.zeros(len(values), np.bool_)
        bad[errors.rows] = True
        arrays = [pa.nulls(len(values), type) for type in self._schema.types]
        if self._column is not None:
            good = pc.if_else(pa.array(bad), pa.scalar(None, pa.binary()), values) if errors.rows else values
            arrays[self._column] = good.cast(pa.string())
        exact = ~bad if self._column is not None else np.zeros(len(values), np.bool_)
        return Decoded(pa.RecordBatch.from_arrays(arrays, schema=self._schema), exact, errors)

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        if self._column is None:
            raise ValueError(f"the layout has no text column '{KEY}': its rows keep their bytes")
        return columns.column(self._column).cast(pa.binary())


def _errors(values: pa.BinaryArray) -> Errors:
    """The rows that are not UTF-8. All text is checked at once, and row by row only if that fails."""
    errors = Errors()
    try:
        values.cast(pa.string())
    except pa.ArrowInvalid:
        for row, value in enumerate(values.to_pylist()):
            if (reason := _reason(value)) is not None:
                errors.add(row, reason)
    return errors


def _reason(value: bytes) -> str | None:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start}: the value is not UTF-8 text ({error.reason})"
    return None

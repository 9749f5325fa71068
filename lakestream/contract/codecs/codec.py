"""What a codec does, whatever the format."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Json = dict[str, Any]

Found: TypeAlias = "str | dict[str, Found] | list[Found]"
"""What values of a key turned out to be: a kind of column; an object, by its keys; an array, by its elements."""

ERROR_CHARACTERS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The rules by which values of one kind were written: all that is needed to write them again."""

    number: int
    """What `__schema` says of its rows: the registry's id where values are framed, else a number of the table's own."""
    format: str
    """avro, json, protobuf, string."""
    codec: int
    """Version of the codec's rules."""
    framed: bool
    """Whether values begin with a frame that names the schema by `number`."""
    schema: str = ""
    """Complete in itself. Avro: JSON; Protobuf: a descriptor set in base64; JSON: nothing, the columns tell."""
    message: str = ""
    """Protobuf: full name of the message."""
    indexes: tuple[int, ...] = ()
    """Protobuf: where the message stands in its file, as the frame has it."""

    def to_json(self) -> Json:
        return {
            "number": self.number,
            "format": self.format,
            "codec": self.codec,
            "framed": self.framed,
            "schema": self.schema,
            "message": self.message,
            "indexes": list(self.indexes),
        }

    @classmethod
    def from_json(cls, content: Json) -> "Writer":
        return cls(**{**content, "indexes": tuple(content["indexes"])})


@dataclass(slots=True)
class Errors:
    """Why rows could not be decoded. Rows rise."""

    rows: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, row: int, reason: str) -> None:
        self.rows.append(row)
        self.reasons.append(reason[:ERROR_CHARACTERS_MAX])

    def joined(self, others: "Errors") -> "Errors":
        """With those of rows that have none yet. The same, if there are no others."""
        if not others.rows:
            return self
        reasons = dict(zip(others.rows, others.reasons, strict=True)) | dict(zip(self.rows, self.reasons, strict=True))
        rows = sorted(reasons)
        return Errors(rows, [reasons[row] for row in rows])


class Decoded(NamedTuple):
    columns: pa.RecordBatch
    """All columns of the layout, in its Arrow schema. Where a row has an error, or lacks a field, there is null."""
    exact: NDArray[np.bool_]
    """Which rows `encode` gives back byte by byte. Others need their bytes kept; false where there is an error."""
    errors: Errors
    shapes: NDArray[np.int32] | None = None
    """JSON: for each row the number of its shape among the codec's `shapes`; -1 where it has none."""
    unknown: dict[str, Found] = {}  # noqa: RUF012  # never changed
    """JSON without a schema: keys that no column has, each with what would hold its values."""


class ValueCodec(Protocol):
    """One writer bound to one layout. Decoding adds to its shapes and is done by one thread at a time; encoding changes
    nothing and may be done by many."""

    shapes: list[str]
    """Of the values decoded so far, or those of the file to be encoded. Empty for formats without."""

    def decode(self, values: pa.BinaryArray) -> Decoded:
        """`values` are without null and without frame. Whatever the bytes, it does not raise."""
        ...

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        """The bytes, without frame, of rows that were found to be exact, from their columns (in the layout's order)."""
        ...

"""The interface that the codecs of all formats share."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Json = dict[str, Any]

Found: TypeAlias = "str | dict[str, Found] | list[Found]"
"""The type found for a key's values: a kind of column, an object by its keys, or an array by its elements."""

ERROR_CHARACTERS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The rules by which values of one kind were written: everything that is needed to write them again."""

    number: int
    """The number that `__schema` has in its rows: the registry's id for framed values, otherwise a number of the
    table's own."""
    format: str
    """avro, json, protobuf, string."""
    codec: int
    """Version of the codec's rules."""
    framed: bool
    """Whether values begin with a frame that names the schema by `number`."""
    schema: str = ""
    """Complete in itself. Avro: JSON; Protobuf: a descriptor set in base64; JSON: empty, the columns are enough."""
    message: str = ""
    """Protobuf: full name of the message."""
    indexes: tuple[int, ...] = ()
    """Protobuf: the message's place in its file, as in the frame."""

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
    """Why rows could not be decoded, in order of rows."""

    rows: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, row: int, reason: str) -> None:
        self.rows.append(row)
        self.reasons.append(reason[:ERROR_CHARACTERS_MAX])

    def joined(self, others: "Errors") -> "Errors":
        """These errors, and those of `others` for rows that have none here. The same object if there are no others."""
        if not others.rows:
            return self
        reasons = dict(zip(others.rows, others.reasons, strict=True)) | dict(zip(self.rows, self.reasons, strict=True))
        rows = sorted(reasons)
        return Errors(rows, [reasons[row] for row in rows])


class Decoded(NamedTuple):
    columns: pa.RecordBatch
    """All columns of the layout, in its Arrow schema. A row with an error, or without a field, has null."""
    exact: NDArray[np.bool_]
    """Which rows `encode` gives back byte by byte. The table must keep the bytes of the others. False for errors."""
    errors: Errors
    shapes: NDArray[np.int32] | None = None
    """JSON: for each row the number of its shape among the codec's `shapes`; -1 if it has none."""
    unknown: dict[str, Found] = {}  # noqa: RUF012  # never changed
    """JSON without a schema: keys that no column has, each with a type that would hold its values."""


class ValueCodec(Protocol):
    """One writer bound to one layout. Decoding adds to its shapes, so one thread at a time may do it; encoding changes
    nothing, and many threads may do it at once."""

    shapes: list[str]
    """The shapes of the values decoded so far, or of the file to be encoded. Empty for formats without shapes."""

    def decode(self, values: pa.BinaryArray) -> Decoded:
        """Decode `values`, which have no nulls and no frames. Never raises, whatever the bytes are."""
        ...

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        """The bytes, without frames, of exact rows, from their columns (in the layout's order)."""
        ...

"""Composes records from the rows of a file that an engine appended: values in the topic's format, keys from a column.

    {"version": 1, "rules": ..., "key": 3}       an encoding: an object beside the table, named by the file's spans

An encoding is complete. A reader needs neither the table nor the registry, however both have changed since.
"""

import json
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from lakestream.contract.codecs.codec import ValueCodec, Writer
from lakestream.contract.codecs.json.composing_rows import composed_objects
from lakestream.contract.columns.column import Column, live
from lakestream.contract.columns.kinds import BINARY, INT, LONG, STRING
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.of_files import columns_in
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.contract.values.binding import bind
from lakestream.contract.values.frames import with_frame
from lakestream.contract.values.rules import Rules

VERSION = 1
KEPT_MAX = 64
"""Encodings that stay bound."""
_KEY_KINDS = (STRING, BINARY, INT, LONG)


class ComposedRecords(NamedTuple):
    keys: pa.BinaryArray
    values: pa.BinaryArray


def encoding_text(contract: TopicContract, key: str | None) -> str:
    """The encoding of rows that are appended under this contract. `key`: the name of the column with the keys. Raises
    CannotFollow if there can be none."""
    if not contract.is_typed or not contract.writers:
        raise CannotFollow("the topic's values have no declared columns, so rows cannot become records: produce them")
    layout = replace(contract.layout, columns=live(contract.layout.columns))
    rules = Rules(layout, contract.writers[-1:], {})
    column = None if key is None else _key_column(layout, key)
    return json.dumps({"version": VERSION, "rules": rules.to_text(), "key": column and column.id})


def _key_column(layout: Layout, name: str) -> Column:
    found = next((column for column in layout.columns if column.name == name), None)
    if found is None:
        raise CannotFollow(f"there is no column '{name}' to take keys from: name one of the table's")
    if found.kind not in _KEY_KINDS:
        raise CannotFollow(f"keys are taken from a column of {', '.join(_KEY_KINDS)}, and '{name}' is {found.kind}")
    return found


class RowComposer:
    """Safe for many threads at once: encoding changes nothing."""

    def __init__(self) -> None:
        self._bound_by = lru_cache(maxsize=KEPT_MAX)(_bound)

    def compose(self, encoding: str, rows: pa.RecordBatch) -> ComposedRecords:
        """`rows` are of the file, with its field ids. Raises ValueError, LookupError, pa.ArrowException."""
        return self._bound_by(encoding).composed(rows)


class _BoundEncoding(NamedTuple):
    layout: Layout
    writer: Writer
    codec: ValueCodec
    key: int | None

    def composed(self, rows: pa.RecordBatch) -> ComposedRecords:
        columns = columns_in(self.layout.columns, rows)
        if self.writer.format == "json":
            values = composed_objects(self.layout.columns, columns)
        else:
            values = self.codec.encode(columns, None)
        return ComposedRecords(
            self._keys(columns), with_frame(values, self.writer.number) if self.writer.framed else values
        )

    def _keys(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        if self.key is None:
            return pa.nulls(columns.num_rows, pa.binary())
        at = next(at for at, column in enumerate(self.layout.columns) if column.id == self.key)
        keys = columns.column(at)
        return keys if pa.types.is_binary(keys.type) else keys.cast(pa.string()).cast(pa.binary())


def _bound(text: str) -> _BoundEncoding:
    content = json.loads(text)
    if content["version"] != VERSION:
        raise ValueError(f"its encoding is of version {content['version']}: a newer Lakestream reads it")
    rules = Rules.from_text(content["rules"])
    (writer,) = rules.writers
    return _BoundEncoding(rules.layout, writer, bind(writer, rules.layout), content["key"])

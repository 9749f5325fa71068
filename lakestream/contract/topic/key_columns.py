"""The columns of keys in a table: a struct `key` with the fields of a record, or a column `key` for any other key.

    wanted_of_keys(writer, wanted) -> the columns for the layout        when the contract learns of the writer
    key_place(writer, layout)      -> the column, and its fields        when keys are decoded

A topic whose keys were text once and are records now has both, the later one under the next free name. So does one
whose keys are JSON, some of them objects and some single values.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.single_value import wanted_single
from lakestream.contract.columns.avro_traits import Traits
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_avro import ROOT_KEY, has_own_columns
from lakestream.contract.columns.kinds import STRUCT
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.avro.parse import AvroParser
from lakestream.contract.registry.json_schema.document import JsonSchema
from lakestream.contract.registry.json_text import parsed_json

NAME = "key"
RECORD = "record"
"""The key of the struct in the layout. The other column has the key that codecs look for (ROOT_KEY)."""


class KeyPlace(NamedTuple):
    column: Column | None
    """None: there is none yet."""
    inner: Layout
    """The layout for the codec."""
    is_record: bool


def wanted_of_keys(writer: Writer, wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """`wanted`: the columns of the writer's schema. Empty if a record has no fields."""
    if not is_record(writer):
        return wanted_whole(wanted)
    return (Wanted(key=RECORD, kind=STRUCT, children=tuple(wanted), name=NAME),) if wanted else ()


def wanted_whole(wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """For keys that are no records. `wanted`: their one column, or nothing."""
    return tuple(
        Wanted(key=ROOT_KEY, kind=whole.kind, children=whole.children, name=NAME, doc=whole.doc) for whole in wanted
    )


def wanted_of_json_keys(schema: JsonSchema, wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """For keys under a JSON Schema, which may be objects, single values, or either. `wanted`: the columns of its
    objects."""
    record = (Wanted(key=RECORD, kind=STRUCT, children=tuple(wanted), name=NAME),) if wanted else ()
    return (*record, *wanted_whole(wanted_single(schema)))


def key_place(writer: Writer, layout: Layout) -> KeyPlace:
    if is_record(writer):
        column = layout.key_column(RECORD)
        return KeyPlace(column, Layout(columns=column.children if column else ()), is_record=True)
    return whole_place(layout)


def whole_place(layout: Layout) -> KeyPlace:
    """The place of keys that are no records."""
    column = layout.key_column(ROOT_KEY)
    return KeyPlace(column, Layout(columns=(column,) if column else ()), is_record=False)


def key_fields(layout: Layout) -> Layout:
    """The fields of keys that are records, as a layout of their own."""
    column = layout.key_column(RECORD)
    return Layout(columns=column.children if column else ())


def is_record(writer: Writer) -> bool:
    """Whether a key has fields: text and single values have none. (JSON keys may be either: see single_value.py.)"""
    match writer.format:
        case "string":
            return False
        case "avro":
            root = AvroParser().parse(parsed_json(writer.schema))
            return has_own_columns(root, Traits(root))
    return True

"""Where keys stand in a table: the fields of a record in a struct `key`, a key that is no record in a column `key`.

    wanted_of_keys(writer, wanted) -> what the layout is to have        when the contract learns of the writer
    key_place(writer, layout)      -> the column, and what is in it     when keys are decoded

A topic whose keys were text once and are records now has both, the later one under the next name that is free. So has
one whose keys are JSON, some of them objects and some single values.
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
"""What the layout knows the struct by. The other column has the key that codecs look for (ROOT_KEY)."""


class KeyPlace(NamedTuple):
    column: Column | None
    """None: there is none yet."""
    inner: Layout
    """What the codec sees."""
    is_record: bool


def wanted_of_keys(writer: Writer, wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """`wanted`: what the writer's schema wants. Nothing, where a record has no fields to show."""
    if not is_record(writer):
        return wanted_whole(wanted)
    return (Wanted(key=RECORD, kind=STRUCT, children=tuple(wanted), name=NAME),) if wanted else ()


def wanted_whole(wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """For keys that are no records. `wanted`: the one column that they want, or nothing."""
    return tuple(
        Wanted(key=ROOT_KEY, kind=whole.kind, children=whole.children, name=NAME, doc=whole.doc) for whole in wanted
    )


def wanted_of_json_keys(schema: JsonSchema, wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """By a JSON Schema keys may be objects, single values, or either. `wanted`: the columns of its objects."""
    record = (Wanted(key=RECORD, kind=STRUCT, children=tuple(wanted), name=NAME),) if wanted else ()
    return (*record, *wanted_whole(wanted_single(schema)))


def key_place(writer: Writer, layout: Layout) -> KeyPlace:
    if is_record(writer):
        column = layout.key_column(RECORD)
        return KeyPlace(column, Layout(columns=column.children if column else ()), is_record=True)
    return whole_place(layout)


def whole_place(layout: Layout) -> KeyPlace:
    """Of keys that are no records."""
    column = layout.key_column(ROOT_KEY)
    return KeyPlace(column, Layout(columns=(column,) if column else ()), is_record=False)


def key_fields(layout: Layout) -> Layout:
    """The fields of keys that are records, as a layout of their own."""
    column = layout.key_column(RECORD)
    return Layout(columns=column.children if column else ())


def is_record(writer: Writer) -> bool:
    """Whether a key has fields: text and single values have none. (Of JSON both may come: see single_json.py.)"""
    match writer.format:
        case "string":
            return False
        case "avro":
            root = AvroParser().parse(parsed_json(writer.schema))
            return has_own_columns(root, Traits(root))
    return True

"""System columns: field ids that nothing else ever gets, and schemas that engines accept."""

import json
from pathlib import Path

import pyarrow as pa
from pyiceberg.schema import Schema

from lakestream.storage.tablefile.format.columns import (
    ALL,
    FIELD_ID,
    FORM,
    HEADERS,
    HIDDEN,
    LAST_COLUMN_ID,
    LEAF_IDS,
    RESERVED_IDS,
    VISIBLE,
    arrow_schema,
    iceberg_fields,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "tablefile"
ICEBERG_RESERVES_FROM = 2_147_483_447


def ids_in(fields: list[dict[str, object]]) -> list[int]:
    """Every id of a schema, however deep."""
    text = json.dumps(fields)
    found: list[int] = []
    json.loads(text, object_hook=lambda each: found.extend(each[key] for key in ("id", "element-id") if key in each))
    return found


def test_field_ids_and_types_are_those_of_the_golden_file() -> None:
    golden = (GOLDEN / "columns.json").read_text()
    assert golden.count('"required": true') == 1, "the key of a header, which is optional by now: readers need no more"
    assert iceberg_fields(ALL) == json.loads(golden.replace('"required": true', '"required": false'))["fields"]
    assert json.loads((GOLDEN / "columns.json").read_text())["last-column-id"] == LAST_COLUMN_ID


def test_field_ids_are_unique_and_lie_between_those_of_users_and_those_of_iceberg() -> None:
    ids = ids_in(iceberg_fields(ALL))
    assert len(ids) == len(set(ids)) == len(ALL) + 3
    assert all(each in RESERVED_IDS for each in ids)
    assert RESERVED_IDS[-1] < ICEBERG_RESERVES_FROM
    assert set(LEAF_IDS.values()) < set(ids)


def test_an_engine_that_numbers_a_new_column_never_takes_the_id_of_a_hidden_one() -> None:
    assert max(ids_in(iceberg_fields(ALL))) <= LAST_COLUMN_ID


def test_a_raw_topic_shows_the_visible_columns_and_no_others() -> None:
    schema = Schema.model_validate({"type": "struct", "schema-id": 0, "fields": iceberg_fields()})
    assert schema.column_names[:2] == ["__partition", "__offset"]
    assert {field.name for field in schema.fields} == {column.name for column in VISIBLE}
    assert (
        str(schema.find_type("__headers"))
        == "list<struct<2000000107: key: optional string, 2000000108: value: optional binary>>"
    )
    assert not any(field.required for field in schema.fields)


def test_files_carry_the_ids_of_the_schema_at_every_depth() -> None:
    fields = {field.name: field for field in arrow_schema(tuple(column.name for column in HIDDEN))}
    element = fields[HEADERS].type.value_field
    nested = [element, element.type.field("key"), element.type.field("value")]
    ids = [int(field.metadata[FIELD_ID]) for field in [*fields.values(), *nested]]
    assert sorted(ids) == sorted(ids_in(iceberg_fields(ALL)))


def test_a_hidden_column_is_in_the_file_only_where_it_is_asked_for() -> None:
    assert FORM not in arrow_schema().names
    assert arrow_schema((FORM,)).names == [*arrow_schema().names, FORM]
    assert arrow_schema((FORM,)).field(FORM).type == pa.int32()

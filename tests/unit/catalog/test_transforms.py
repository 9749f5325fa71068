"""Which columns can be partitioned and sorted by what: as Iceberg's library in Python has it, so that both agree."""

import pytest
from pyiceberg.transforms import parse_transform
from pyiceberg.types import NestedField

from lakestream.catalog.spec.transforms import check_transform
from lakestream.model.table_errors import InvalidTableChange

NUMBERS = ["int", "long", "float", "double", "decimal(9,2)"]
TIMES = ["date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"]
TYPES = [*NUMBERS, *TIMES, "boolean", "string", "uuid", "binary", "fixed[3]"]
TRANSFORMS = ["identity", "bucket[4]", "truncate[4]", "year", "month", "day", "hour", "void"]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("type", TYPES)
def test_a_transform_takes_the_types_of_the_specification(transform: str, type: str) -> None:
    source = NestedField.model_validate({"id": 1, "name": "c", "required": False, "type": type}).field_type
    try:
        check_transform(transform, type)
        taken = True
    except InvalidTableChange:
        taken = False
    assert taken == parse_transform(transform).can_transform(source)


@pytest.mark.parametrize("type", ["variant", "geometry(OGC:CRS84)", {"type": "struct", "fields": []}, None])
def test_only_values_that_can_be_compared_are_taken(type: object) -> None:
    with pytest.raises(InvalidTableChange):
        check_transform("identity", type)


def test_what_nobody_knows_yet_passes() -> None:
    check_transform("zorder", "long")

"""A table's schema follows its contract, and what others did to it stays: also where the two touch one column."""

from typing import Any

from lakestream.catalog.spec.schema.ids import field_ids
from lakestream.catalog.spec.schema.names import check_names
from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.kinds import DOUBLE, INT, LIST, LONG, MAP, STRING, STRUCT, decimal
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

Json = dict[str, Any]
OTHERS_ID = 2_000_001_000


def shown(layout: Layout) -> list[Json]:
    return [iceberg_field(column) for column in layout.all_columns]


def others(name: str, number: int = 0) -> Json:
    return {"id": OTHERS_ID + number, "name": name, "required": False, "type": "string"}


def followed(fields: list[Json], before: Layout, after: Layout) -> list[Json]:
    found = evolved_fields(fields, before, after)
    field_ids({"fields": found})
    check_names({"fields": found})
    return found


def address(*parts: str, nested: str = STRUCT) -> Wanted:
    struct = Wanted(key="at", kind=STRUCT, children=tuple(Wanted(key=part, kind=STRING) for part in parts))
    if nested == LIST:
        return Wanted(key="at", kind=LIST, children=(struct,))
    if nested == MAP:
        return Wanted(key="at", kind=MAP, children=(Wanted(key="key", kind=STRING), struct))
    return struct


def struct_in(type: Any) -> Json:
    """The struct of a column, or of a list's elements or a map's values."""
    found: Json = type.get("element") or type.get("value") or type
    return found


def test_parts_that_others_added_renamed_or_dropped_in_a_struct_stay_so() -> None:
    for nested in (STRUCT, LIST, MAP):
        before = Layout().merged([address("street", "town", "zip", nested=nested)])
        after = before.merged([address("street", "town", "zip", "country", nested=nested)])
        (field,) = shown(before)
        struct = struct_in(field["type"])
        street, town, _ = struct["fields"]
        struct["fields"] = [others("country"), {**street, "name": "road"}, {**town, "doc": "a place"}]
        (found,) = followed([field], before, after)
        names = [part["name"] for part in struct_in(found["type"])["fields"]]
        assert names == ["country", "road", "town", "country_2"], nested
        assert struct_in(found["type"])["fields"][2]["doc"] == "a place"


def test_a_column_that_the_contract_renames_takes_no_name_of_others() -> None:
    before = Layout().merged([Wanted(key="amount", kind=LONG)])
    after = before.merged([Wanted(key="total", aliases=("amount",), kind=LONG)])
    assert [one["name"] for one in followed(shown(before), before, after)] == ["total"]
    found = followed([*shown(before), others("Total")], before, after)
    assert [one["name"] for one in found] == ["total_2", "Total"]


def test_no_column_takes_the_name_of_a_partition_field() -> None:
    """Iceberg's own library could not load the table any more."""
    before = Layout().merged([Wanted(key="id", kind=LONG), Wanted(key="amount", kind=LONG)])
    renamed = Wanted(key="day", aliases=("amount",), kind=LONG)
    after = before.merged([renamed, Wanted(key="ID_bucket_8", kind=LONG), Wanted(key="at", kind=LONG)])
    found = evolved_fields(shown(before), before, after, reserved=["id", "id_bucket_8", "Day"])
    assert [one["name"] for one in found] == ["id", "day_2", "ID_bucket_8_2", "at"]


def test_a_column_that_someone_has_widened_further_stays_so() -> None:
    def with_kinds(number: str, price: str, doc: str) -> list[Wanted]:
        return [Wanted(key="n", kind=number, doc=doc), Wanted(key="p", kind=price)]

    before = Layout().merged(with_kinds(INT, decimal(9, 2), ""))
    after = before.merged(with_kinds(INT, decimal(12, 2), "a number"))
    number, price = shown(before)
    found = followed([{**number, "type": LONG}, {**price, "type": "decimal(20, 2)"}], before, after)
    assert [one["type"] for one in found] == [LONG, decimal(20, 2)] and found[0]["doc"] == "a number"
    assert [one["type"] for one in followed([number, price], before, after)] == [INT, decimal(12, 2)]


def test_a_dropped_column_stays_dropped_and_new_ones_stand_after_the_contracts() -> None:
    before = Layout().merged([Wanted(key="a", kind=LONG), Wanted(key="b", kind=LONG)])
    after = before.merged([Wanted(key="c", kind=DOUBLE)])
    fields = [others("mine"), shown(before)[1], others("c", 1)]
    assert [one["name"] for one in followed(fields, before, after)] == ["mine", "b", "c_2", "c"]

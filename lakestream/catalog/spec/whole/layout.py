"""Checks all schemas, partition specs and sort orders of a table from elsewhere, by the rules for adding them.

Readers check every one of them, not only those in use.
"""

from lakestream.catalog.spec.updates.identity import FORMAT_VERSIONS
from lakestream.catalog.spec.updates.layout import UNSORTED_ORDER_ID, checked_partition_fields, checked_sort_fields
from lakestream.catalog.spec.updates.schemas import check_schema
from lakestream.catalog.spec.updates.sources import check_compatible
from lakestream.catalog.spec.values import Json, Metadata, distinct_ids, optional, wanted_int, wanted_objects
from lakestream.model.table_errors import InvalidTableChange


def check_whole_layout(metadata: Metadata) -> None:
    """Raises InvalidTableChange."""
    for list_name, id_name, chosen_name in (
        ("schemas", "schema-id", "current-schema-id"),
        ("partition-specs", "spec-id", "default-spec-id"),
        ("sort-orders", "order-id", "default-sort-order-id"),
    ):
        _check_chosen(metadata, list_name, id_name, chosen_name)
    for schema in metadata["schemas"]:
        check_schema(schema, max(FORMAT_VERSIONS))
    for spec in metadata["partition-specs"]:
        _check_spec(spec)
    for order in metadata["sort-orders"]:
        _check_order(order)
    if optional(metadata, "last-partition-id", int) is not None:
        wanted_int(metadata, "last-partition-id")
    check_compatible(metadata)


def _check_chosen(metadata: Metadata, list_name: str, id_name: str, chosen_name: str) -> None:
    for one in wanted_objects(metadata, list_name):
        wanted_int(one, id_name)
    if wanted_int(metadata, chosen_name) not in distinct_ids(metadata, list_name, id_name):
        raise InvalidTableChange(f"'{chosen_name}' of the table is none of its {list_name}: add it, and set it")


def _check_spec(spec: Json) -> None:
    for field in checked_partition_fields(spec):
        wanted_int(field, "field-id")


def _check_order(order: Json) -> None:
    if bool(checked_sort_fields(order)) == (order["order-id"] == UNSORTED_ORDER_ID):
        raise InvalidTableChange(
            f"sort order {order['order-id']} cannot be: {UNSORTED_ORDER_ID} is the one without fields, and no other is"
        )

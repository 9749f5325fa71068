"""Updates of partition specs and sort orders: added under a new id (or found again) and made the default."""

from lakestream.catalog.spec.updates.draft import Draft, meant_id, without
from lakestream.catalog.spec.updates.sources import check_partition_sources, check_sort_sources, source_id
from lakestream.catalog.spec.values import Json, by_id, shown, wanted, wanted_ids, wanted_int, wanted_objects
from lakestream.model.table_errors import InvalidTableChange

PARTITION_FIELD_ID_BEFORE_FIRST = 999
UNSORTED_ORDER_ID = 0
_DIRECTIONS = ("asc", "desc")
_NULL_ORDERS = ("nulls-first", "nulls-last")


def add_spec(draft: Draft, update: Json) -> None:
    spec = wanted(update, "spec", dict)
    fields = checked_partition_fields(spec)
    # From any schema: a change may add a spec before it makes its schema current.
    check_partition_sources(fields, draft.objects("schemas"))
    specs = draft.objects("partition-specs")
    same = next((known for known in specs if _spec_fields(known["fields"]) == _spec_fields(fields)), None)
    if same is not None:
        draft.last_spec_id = same["spec-id"]
        return
    numbered = _with_field_ids(draft, fields)
    id = max((known["spec-id"] for known in specs), default=-1) + 1
    draft.metadata["partition-specs"] = [*specs, {**spec, "spec-id": id, "fields": numbered}]
    highest = max((field["field-id"] for field in numbered), default=PARTITION_FIELD_ID_BEFORE_FIRST)
    draft.metadata["last-partition-id"] = max(_last_partition_id(draft), highest)
    draft.last_spec_id = id


def set_default_spec(draft: Draft, update: Json) -> None:
    id = meant_id(wanted(update, "spec-id", int), draft.last_spec_id, "partition spec")
    spec = by_id(draft.objects("partition-specs"), "spec-id", id)
    if spec is None:
        raise InvalidTableChange(f"the table has no partition spec {id}: add it first")
    draft.metadata["default-spec-id"] = id
    if "partition-spec" in draft.metadata:
        draft.metadata["partition-spec"] = spec["fields"]  # version 1 repeats the default one


def remove_partition_specs(draft: Draft, update: Json) -> None:
    ids = set(wanted_ids(update, "spec-ids"))
    if draft.metadata.get("default-spec-id") in ids:
        raise InvalidTableChange("the default partition spec cannot be removed: make another one the default first")
    draft.metadata["partition-specs"] = without(draft.objects("partition-specs"), "spec-id", ids)


def add_sort_order(draft: Draft, update: Json) -> None:
    order = wanted(update, "sort-order", dict)
    fields = checked_sort_fields(order)
    check_sort_sources(fields, draft.objects("schemas"))
    orders = draft.objects("sort-orders")
    same = next((known for known in orders if known["fields"] == fields), None)
    if same is not None:
        draft.last_order_id = same["order-id"]
        return
    above = max((known["order-id"] for known in orders), default=UNSORTED_ORDER_ID) + 1
    draft.last_order_id = above if fields else UNSORTED_ORDER_ID
    draft.metadata["sort-orders"] = [*orders, {**order, "order-id": draft.last_order_id}]


def set_default_sort_order(draft: Draft, update: Json) -> None:
    id = meant_id(wanted(update, "sort-order-id", int), draft.last_order_id, "sort order")
    if by_id(draft.objects("sort-orders"), "order-id", id) is None:
        raise InvalidTableChange(f"the table has no sort order {id}: add it first")
    draft.metadata["default-sort-order-id"] = id


def checked_partition_fields(spec: Json) -> list[Json]:
    """The fields of a spec in a request. Raises InvalidTableChange for one that readers could not use."""
    fields = wanted_objects(spec, "fields")
    for field in fields:
        _check_field(field)
        if not wanted(field, "name", str):
            raise InvalidTableChange("a partition field needs a name")
        if field.get("field-id") is not None:
            wanted_int(field, "field-id")
    for part in ("name", "field-id"):
        given = [field[part] for field in fields if field.get(part) is not None]
        if len(set(given)) != len(given):
            raise InvalidTableChange(f"two partition fields have the same {part}: give each its own")
    return fields


def checked_sort_fields(order: Json) -> list[Json]:
    """The same for the fields of a sort order."""
    fields = wanted_objects(order, "fields")
    for field in fields:
        _check_field(field)
        for name, known in (("direction", _DIRECTIONS), ("null-order", _NULL_ORDERS)):
            if wanted(field, name, str) not in known:
                raise InvalidTableChange(f"'{name}' must be one of {', '.join(known)}, not {shown(field[name])}")
    return fields


def _check_field(field: Json) -> None:
    wanted(field, "transform", str)
    source_id(field)


def _with_field_ids(draft: Draft, fields: list[Json]) -> list[Json]:
    """Fields without an id get that of the same field in an earlier spec, or the next one."""
    known = {
        _spec_field(field): field["field-id"] for spec in draft.objects("partition-specs") for field in spec["fields"]
    }
    given = [field["field-id"] for field in fields if field.get("field-id") is not None]
    next_id = max([_last_partition_id(draft), *given]) + 1
    numbered = []
    for field in fields:
        id = field.get("field-id") or known.get(_spec_field(field))
        if id is None:
            id, next_id = next_id, next_id + 1
        numbered.append({**field, "field-id": id})
    return numbered


def _last_partition_id(draft: Draft) -> int:
    return max(draft.metadata.get("last-partition-id") or 0, PARTITION_FIELD_ID_BEFORE_FIRST)


def _spec_fields(fields: list[Json]) -> list[tuple[object, ...]]:
    return [(*_spec_field(field), field.get("name")) for field in fields]


def _spec_field(field: Json) -> tuple[object, ...]:
    sources = field.get("source-ids") or [field.get("source-id")]
    return (tuple(sources), wanted(field, "transform", str))

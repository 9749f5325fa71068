"""The partition spec and sort order of a topic's table, as the topic's configs ask for them.

    configs  +  the table's metadata  ->  updates that add a spec and an order and make them the default

A config is applied when it changes, and the table's property `lakestream.layout` says what was applied last. So
another engine may evolve the spec afterwards, and a table that CREATE TABLE partitioned needs no config. Files keep the
spec that they were written under; the log's own have spec 0.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.catalog.spec.schema.names import ids_by_name
from lakestream.catalog.spec.transforms import VOID
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.configs.layout import PARTITION_BY, SORT_BY, Term, parsed_order, parsed_partition
from lakestream.model.table_errors import InvalidTableChange

LAYOUT = "lakestream.layout"
"""A table's property: the configs that were applied last, as JSON."""
UNSORTED = 0
_CONFIGS = (PARTITION_BY, SORT_BY)
_LAST_ADDED = -1
_NAME_ENDS = {"bucket": "_bucket", "truncate": "_trunc"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """How files of `main` are written now: the table's default spec and order."""

    spec: Json
    order: Json

    @property
    def spec_id(self) -> int:
        return int(self.spec["spec-id"])

    @property
    def order_id(self) -> int:
        return int(self.order["order-id"])

    @property
    def is_plain(self) -> bool:
        """Whether rows in the order of the log are laid out already."""
        return not is_partitioned(self.spec) and self.order_id == UNSORTED


def layout_of(metadata: Metadata) -> TableLayout:
    spec = by_id(metadata["partition-specs"], "spec-id", metadata["default-spec-id"])
    order = by_id(metadata["sort-orders"], "order-id", metadata["default-sort-order-id"])
    return TableLayout(
        spec=spec or {"spec-id": metadata["default-spec-id"], "fields": []},
        order=order or {"order-id": UNSORTED, "fields": []},
    )


def is_partitioned(spec: Json) -> bool:
    return any(field["transform"] != VOID for field in spec["fields"])


def asked_layout(config: Mapping[str, str]) -> dict[str, str]:
    """The configs of a topic that say how its table is laid out; empty if none does."""
    return {name: config[name] for name in _CONFIGS if config.get(name)}


def layout_updates(metadata: Metadata, asked: Mapping[str, str]) -> list[Json]:
    """The updates that make the table's layout what is asked; none if that was applied before. Raises
    InvalidTableChange if the table has no such column."""
    applied = _applied(metadata)
    if applied == asked:
        return []
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}
    names = ids_by_name(schema)
    updates: list[Json] = []
    if asked.get(PARTITION_BY, applied.get(PARTITION_BY)) != applied.get(PARTITION_BY):
        spec = {"fields": _partition_fields(parsed_partition(asked[PARTITION_BY]), names)}
        updates += [{"action": "add-spec", "spec": spec}, {"action": "set-default-spec", "spec-id": _LAST_ADDED}]
    if asked.get(SORT_BY, applied.get(SORT_BY)) != applied.get(SORT_BY):
        fields = [
            {**_source(sorted_by.term, names), "direction": sorted_by.direction, "null-order": sorted_by.null_order}
            for sorted_by in parsed_order(asked[SORT_BY])
        ]
        updates += [
            {"action": "add-sort-order", "sort-order": {"fields": fields}},
            {"action": "set-default-sort-order", "sort-order-id": _LAST_ADDED},
        ]
    return [*updates, {"action": "set-properties", "updates": {LAYOUT: json.dumps(dict(asked), sort_keys=True)}}]


def _applied(metadata: Metadata) -> dict[str, str]:
    found = json.loads((metadata.get("properties") or {}).get(LAYOUT, "{}"))
    return dict(found)


def _partition_fields(terms: Sequence[Term], names: Mapping[str, int]) -> list[Json]:
    """Fields with names as Iceberg's own library gives them, unless a column or another field has the name."""
    fields: list[Json] = []
    taken: set[str] = set()
    for term in terms:
        kind = term.transform.partition("[")[0]
        plain = term.column if kind == "identity" else f"{term.column}{_NAME_ENDS.get(kind, f'_{kind}')}"
        source = _source(term, names)
        candidates = (plain, *(f"{plain}_{number}" for number in range(2, len(names) + len(terms) + 3)))
        name = next(
            one for one in candidates if one not in taken and names.get(one, source["source-id"]) == source["source-id"]
        )
        taken.add(name)
        fields.append({**source, "name": name})
    return fields


def _source(term: Term, names: Mapping[str, int]) -> Json:
    if term.column not in names:
        raise InvalidTableChange(
            f"the table has no column '{term.column}' (yet): the layout is applied when it has. System columns count "
            "where they are visible (lakestream.table.system-columns)"
        )
    return {"source-id": names[term.column], "transform": term.transform}

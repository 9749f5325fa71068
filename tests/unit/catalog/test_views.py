"""Views: versions of a query in several dialects."""

import pytest

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.spec.views import VIEW_UPDATES, apply_view_updates, new_view
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import LOCATION, NOW_MS, UUID, field, schema


def version(sql: str = "SELECT 1", *, dialects: tuple[str, ...] = ("spark",), **more: object) -> Json:
    return {
        "version-id": 1,
        "timestamp-ms": NOW_MS,
        "schema-id": 0,
        "summary": {"engine-name": "test"},
        "representations": [{"type": "sql", "sql": sql, "dialect": dialect} for dialect in dialects],
        "default-namespace": ["db"],
        **more,
    }


def view(**properties: str) -> Metadata:
    request = {"name": "v", "schema": schema(field(1, "x")), "view-version": version(), "properties": properties}
    return new_view(request, uuid=UUID, location=LOCATION, now_ms=NOW_MS)


def replaced(base: Metadata, changed: Json, *more: Json) -> Metadata:
    updates = [
        {"action": "add-view-version", "view-version": changed},
        {"action": "set-current-view-version", "view-version-id": -1},
        *more,
    ]
    return apply_view_updates(base, updates, now_ms=NOW_MS + 1)


def test_a_new_view_has_one_version() -> None:
    made = view(comment="c")
    assert (made["view-uuid"], made["format-version"], made["current-version-id"]) == (UUID, 1, 1)
    assert made["version-log"] == [{"timestamp-ms": NOW_MS, "version-id": 1}]
    assert made["versions"][0]["schema-id"] == made["schemas"][0]["schema-id"] == 0
    assert made["properties"] == {"comment": "c"}


def test_replacing_adds_a_version() -> None:
    made = replaced(view(), version("SELECT 2"))
    assert made["current-version-id"] == 2
    assert [one["version-id"] for one in made["version-log"]] == [1, 2]


def test_the_same_query_again_is_the_same_version() -> None:
    base = replaced(view(), version("SELECT 2"))
    again = replaced(base, version())
    assert (again["current-version-id"], len(again["versions"])) == (1, 2)
    assert [one["version-id"] for one in again["version-log"]] == [1, 2, 1]


def test_old_versions_are_forgotten() -> None:
    base = view(**{"version.history.num-entries": "2"})
    for number in range(5):
        base = replaced(base, version(f"SELECT {number + 2}"))
    assert [one["version-id"] for one in base["versions"]] == [5, 6]
    assert [one["version-id"] for one in base["version-log"]] == [5, 6]


def test_a_dialect_is_not_lost_unless_the_view_allows_it() -> None:
    base = replaced(view(), version("SELECT 2", dialects=("spark", "trino")))
    with pytest.raises(InvalidTableChange, match="trino"):
        replaced(base, version("SELECT 3"))
    allow = {"action": "set-properties", "updates": {"replace.drop-dialect.allowed": "true"}}
    assert replaced(base, version("SELECT 3"), allow)["current-version-id"] == 3


@pytest.mark.parametrize(
    "update",
    [
        {"action": "add-view-version", "view-version": version(**{"schema-id": 9})},
        {"action": "add-view-version", "view-version": version(dialects=("spark", "SPARK"))},
        {"action": "add-view-version", "view-version": {}},
        {"action": "set-current-view-version", "view-version-id": 9},
        {"action": "set-current-view-version", "view-version-id": -1},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "assign-uuid", "uuid": "another"},
        {"action": "add-snapshot", "snapshot": {}},
        {"action": "set-properties", "updates": {"version.history.num-entries": "0"}},
    ],
)
def test_what_makes_no_sense_is_refused(update: Json) -> None:
    with pytest.raises(InvalidTableChange):
        apply_view_updates(view(), [update], now_ms=NOW_MS)


def test_schema_location_and_properties_change() -> None:
    wider = schema(field(1, "x"), field(2, "y", "variant"))
    made = replaced(
        apply_view_updates(
            view(a="1"),
            [
                {"action": "set-location", "location": LOCATION + "/2/"},
                {"action": "remove-properties", "removals": ["a"]},
                {"action": "assign-uuid", "uuid": UUID},
                {"action": "upgrade-format-version", "format-version": 1},
            ],
            now_ms=NOW_MS,
        ),
        version("SELECT 2"),
    )
    assert (made["location"], made["properties"]) == (LOCATION + "/2", {})
    updates = [
        {"action": "add-schema", "schema": wider},
        {"action": "add-view-version", "view-version": version("SELECT 3", **{"schema-id": -1})},
        {"action": "set-current-view-version", "view-version-id": -1},
    ]
    wide = apply_view_updates(made, updates, now_ms=NOW_MS)
    assert wide["versions"][-1]["schema-id"] == 1


def test_every_update_of_the_specification_for_views_is_known() -> None:
    assert set(VIEW_UPDATES) == {
        *("assign-uuid", "upgrade-format-version", "add-schema", "set-location", "set-properties"),
        *("remove-properties", "add-view-version", "set-current-view-version"),
    }

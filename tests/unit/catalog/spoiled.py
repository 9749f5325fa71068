"""Good requests, and everything that can be wrong with them: every part is left out, or replaced by something else, one
at a time. `accepted` sends them all and tells what came of those that were not refused."""

import copy
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import httpx

from lakestream.catalog.spec.values import Json, Metadata
from tests.unit.catalog.face import Face, create_request
from tests.unit.catalog.samples import field, schema

LEFT_OUT = object()
OTHERS: list[Any] = [LEFT_OUT, None, True, -1, 1.5, 2**40, "", "banana", "9" * 5_000, [], {}, [{}]]
SPEC = {"fields": [{"source-id": 1, "field-id": 1000, "name": "b", "transform": "bucket[4]"}]}
ORDER = {
    "order-id": 1,
    "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}],
}
SCHEMA: Json = {
    **schema(
        field(1, "id", "long"),
        field(2, "s", {"type": "struct", "fields": [field(3, "x", "decimal(9,2)")]}),
        field(4, "l", {"type": "list", "element-id": 5, "element-required": False, "element": "fixed[3]"}),
        field(
            6, "m", {"type": "map", "key-id": 7, "key": "string", "value-id": 8, "value-required": True, "value": "int"}
        ),
    ),
    "identifier-field-ids": [],
}
BLOB = {"type": "apache-datasketches-theta-v1", "snapshot-id": 11, "sequence-number": 1, "fields": [1]}
FILE = {"snapshot-id": 11, "statistics-path": "p", "file-size-in-bytes": 1}
SNAPSHOT = {
    "snapshot-id": 11,
    "sequence-number": 1,
    "timestamp-ms": 1,
    "manifest-list": "memory:///x.avro",
    "summary": {"operation": "append"},
    "schema-id": 0,
}
MAKING: list[Json] = [
    {"action": "assign-uuid", "uuid": "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
    {"action": "upgrade-format-version", "format-version": 2},
    {"action": "add-schema", "schema": SCHEMA},
    {"action": "set-current-schema", "schema-id": -1},
    {"action": "add-spec", "spec": SPEC},
    {"action": "set-default-spec", "spec-id": -1},
    {"action": "add-sort-order", "sort-order": ORDER},
    {"action": "set-default-sort-order", "sort-order-id": -1},
    {"action": "set-properties", "updates": {"a": "b", "write.metadata.previous-versions-max": "5"}},
    {"action": "add-snapshot", "snapshot": SNAPSHOT},
    {
        "action": "set-snapshot-ref",
        "ref-name": "main",
        "type": "branch",
        "snapshot-id": 11,
        "min-snapshots-to-keep": 3,
        "max-ref-age-ms": 9,
    },
    {
        "action": "set-statistics",
        "statistics": {**FILE, "file-footer-size-in-bytes": 1, "blob-metadata": [BLOB]},
    },
    {"action": "set-partition-statistics", "partition-statistics": FILE},
]
TAKING: list[Json] = [
    {"action": "remove-properties", "removals": ["a"]},
    {"action": "remove-snapshot-ref", "ref-name": "tag"},
    {"action": "remove-statistics", "snapshot-id": 11},
    {"action": "remove-snapshots", "snapshot-ids": [11]},
    {"action": "remove-schemas", "schema-ids": [9]},
    {"action": "remove-partition-specs", "spec-ids": [9]},
    {"action": "add-encryption-key", "encryption-key": {"key-id": "k", "encrypted-key-metadata": "eHg="}},
    {"action": "remove-encryption-key", "key-id": "k"},
]
CREATED = {"requirements": [{"type": "assert-create"}], "updates": MAKING}
UNKNOWN = field(20, "v", "unknown")
SINCE = field(21, "since", "timestamptz", **{"initial-default": "2007-12-03T10:15:30.123456+00:00"})
COUNT = field(22, "count", "int", **{"initial-default": 3, "write-default": 4})
MAKING_V3: list[Json] = [
    MAKING[0],
    {"action": "upgrade-format-version", "format-version": 3},
    {"action": "add-schema", "schema": {**SCHEMA, "fields": [*SCHEMA["fields"], UNKNOWN, SINCE, COUNT]}},
    *MAKING[3:9],
    {"action": "add-snapshot", "snapshot": {**SNAPSHOT, "first-row-id": 0, "added-rows": 3, "key-id": "k"}},
]
TABLE = create_request(
    **{
        "schema": SCHEMA,
        "partition-spec": SPEC,
        "write-order": ORDER,
        "stage-create": False,
        "properties": {"format-version": "2"},
    }
)
VERSION = {
    "version-id": 1,
    "timestamp-ms": 1,
    "schema-id": 0,
    "summary": {"engine": "x"},
    "default-catalog": "c",
    "default-namespace": ["db"],
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
}
VIEW = {
    "name": "v",
    "schema": schema(field(1, "id")),
    "view-version": VERSION,
    "properties": {"version.history.num-entries": "3"},
}
REPLACING = {
    "requirements": [],
    "updates": [
        {"action": "add-schema", "schema": schema(field(1, "id"), field(2, "b"))},
        {"action": "add-view-version", "view-version": {**VERSION, "schema-id": -1}},
        {"action": "set-current-view-version", "view-version-id": -1},
        {"action": "remove-properties", "removals": ["a"]},
    ],
}


class Situation(NamedTuple):
    name: str
    kind: str
    path: str
    request: Json
    before: tuple[str, Json] | None = None
    """Sent first, each time, and where to."""


CREATED_V3 = {**CREATED, "updates": MAKING_V3}
CHANGED = {"requirements": [], "updates": TAKING}
SITUATIONS = [
    Situation("create", "tables", "tables", TABLE),
    Situation("create by commit", "tables", "tables/t", CREATED),
    Situation("create by commit, version 3", "tables", "tables/t", CREATED_V3),
    Situation("commit", "tables", "tables/t", CHANGED, before=("tables/t", CREATED)),
    Situation("create view", "views", "views", VIEW),
    Situation("replace view", "views", "views/v", REPLACING, before=("views", VIEW)),
]


async def accepted(face: Face, situation: Situation) -> AsyncIterator[tuple[str, Metadata]]:
    """What was wrong with each request that was not refused, and the table or view as it is then."""
    await face.answer("POST", "namespaces", {"namespace": ["db"]})
    await _fresh(face, situation)
    for where, request in [("nothing", situation.request), *spoiled(situation.request)]:
        answer = await sent(face, f"namespaces/db/{situation.path}", request)
        assert answer.status_code < 500, f"{where}: {answer.text}"
        assert answer.status_code == 200 or where != "nothing", answer.text
        if answer.status_code == 200:
            yield where, answer.json()["metadata"]
            await _fresh(face, situation)


async def sent(face: Face, path: str, request: Json) -> httpx.Response:
    answer = await face.http.post(f"/iceberg/v1/{path}", content=json.dumps(request))
    if answer.status_code >= 400:
        assert set(answer.json()["error"]) == {"message", "type", "code"}
    return answer


def spoiled(request: Json) -> Iterator[tuple[str, Json]]:
    """Where it is spoiled, and the request."""
    for path in _paths(request):
        for other in OTHERS:
            changed = copy.deepcopy(request)
            inner: Any = changed
            for part in path[:-1]:
                inner = inner[part]
            if other is LEFT_OUT:
                del inner[path[-1]]
            else:
                inner[path[-1]] = other
            yield f"{'.'.join(map(str, path))} = {'nothing' if other is LEFT_OUT else repr(other)[:20]}", changed


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*at, name)
        yield from _paths(part, (*at, name))


async def _fresh(face: Face, situation: Situation) -> None:
    for name in ("t", "v", "banana"):
        await face.http.delete(f"/iceberg/v1/namespaces/db/{situation.kind}/{name}")
    if situation.before is not None:
        path, request = situation.before
        assert (await sent(face, f"namespaces/db/{path}", request)).status_code == 200

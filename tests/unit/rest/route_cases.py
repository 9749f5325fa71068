"""What each route of the gateway is asked in the matrix test, and by which grants it is served.

    Case(route, request, grants)              served with all of the grants; refused without any one, or on other names
    Case(..., shows="text")                   never refused: the text is in the answer with the grants, and else not

The names are those of `site`: a topic `orders` whose table is `streams.orders`, an ordinary table `shop.plain`,
a view `shop.seen`, a group `readers`, a subject `orders-value` and another, `plain.Subject`.
"""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME

Op, R = Operation, ResourceType
Grant = tuple[Operation, ResourceType, str]
CLUSTER: Grant = (Op.DESCRIBE, R.CLUSTER, CLUSTER_NAME)


@dataclass(frozen=True, kw_only=True)
class Case:
    method: str
    route: str
    """As declared."""
    path: str
    grants: tuple[Grant, ...]
    body: Any = None
    form: bool = False
    shows: str | None = None

    @property
    def content(self) -> bytes:
        if self.form:
            return urlencode(self.body).encode()
        return b"" if self.body is None else json.dumps(self.body).encode()


def topic(operation: Operation, name: str = "orders") -> Grant:
    return operation, R.TOPIC, name


def table(operation: Operation, name: str = "shop.plain") -> Grant:
    return operation, R.TABLE, name


def view(operation: Operation, name: str = "shop.seen") -> Grant:
    return operation, R.VIEW, name


def space(operation: Operation, name: str = "shop") -> Grant:
    return operation, R.NAMESPACE, name


def group(operation: Operation) -> Grant:
    return operation, R.GROUP, "readers"


def case(method: str, route: str, *grants: Grant, path: str | None = None, **more: Any) -> Case:
    filled = route.replace("{topic}", "orders").replace("{name}", "orders").replace("{group:path}", "readers")
    return Case(method=method, route=route, path=path or filled, grants=grants, **more)


_SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "n", "type": "long", "required": False}]}
_VIEW = {
    "name": "made",
    "schema": _SCHEMA,
    "properties": {},
    "view-version": {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "summary": {},
        "default-namespace": ["shop"],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}],
    },
}
NEW_TABLE = {"name": "made", "schema": _SCHEMA}
_PROPERTIES = [{"action": "set-properties", "updates": {"a": "b"}}]
_SUBJECT = {"schema": '"string"'}
_ICEBERG = "/iceberg/v1/namespaces"
_ONE_TABLE, _ONE_VIEW = _ICEBERG + "/{namespace}/tables/{table}", _ICEBERG + "/{namespace}/views/{view}"
_OF_TOPIC, _PLAIN, _SEEN = (
    f"{_ICEBERG}/streams/tables/orders",
    f"{_ICEBERG}/shop/tables/plain",
    f"{_ICEBERG}/shop/views/seen",
)


def cases(topic_id: str, schema_id: int, guid: str, repair: str, merge: str, rebuild: str) -> list[Case]:
    return [
        *_admin(topic_id, repair, merge, rebuild),
        *_console(),
        *_namespaces(),
        *_tables(),
        *_views(),
        *_registry(schema_id, guid),
    ]


def _admin(topic_id: str, repair: str, merge: str, rebuild: str) -> list[Case]:
    return [
        case("GET", "/metrics", CLUSTER),
        case("GET", "/admin/status", CLUSTER),
        case("GET", "/admin/status", CLUSTER, topic(Op.DESCRIBE), shows='"orders"'),
        case("GET", "/admin/topics/{id}/table", topic(Op.DESCRIBE), path=f"/admin/topics/{topic_id}/table"),
        case("GET", "/admin/topics/{id}/appended", topic(Op.DESCRIBE), path=f"/admin/topics/{topic_id}/appended"),
        case("GET", "/admin/logs/{topic}", topic(Op.READ)),
        case("GET", "/admin/logs/{topic}/spans", topic(Op.READ)),
        case("GET", "/admin/logs/{topic}/span-at-time", topic(Op.READ)),
        case("GET", "/admin/compact", topic(Op.DESCRIBE), shows='"orders"'),
        case("POST", "/admin/compact", topic(Op.ALTER), body={"topics": ["orders"]}),
        case("POST", "/admin/compact", topic(Op.ALTER, "*"), body={}),
        case("GET", "/admin/quarantine/{topic}", topic(Op.DESCRIBE)),
        case("POST", "/admin/quarantine/{topic}", topic(Op.WRITE), body={"action": "retry"}),
        case("POST", "/admin/quarantine/{topic}", topic(Op.DELETE), body={"action": "discard"}),
        case("GET", "/admin/repairs/{id}", topic(Op.DESCRIBE), path=f"/admin/repairs/{repair}"),
        case("GET", "/admin/maintenance", topic(Op.DESCRIBE), shows="orders"),
        case("GET", "/admin/maintenance/{topic}", topic(Op.DESCRIBE)),
        case("POST", "/admin/maintenance/{topic}", topic(Op.ALTER), body={}),
        case("GET", "/admin/merges/{id}", topic(Op.DESCRIBE), path=f"/admin/merges/{merge}"),
        case("POST", "/admin/tables/{topic}/rebuild", topic(Op.ALTER), body={}),
        case("GET", "/admin/rebuilds/{id}", topic(Op.DESCRIBE), path=f"/admin/rebuilds/{rebuild}"),
        case("GET", "/admin/transactions", CLUSTER),
        case(
            "POST",
            "/admin/transactions/{id:path}/abort",
            (Op.ALTER, R.CLUSTER, CLUSTER_NAME),
            path="/admin/transactions/payments/abort",
        ),
        case(
            "POST",
            "/admin/adopt",
            topic(Op.CREATE, "plain"),
            table(Op.ALTER),
            body={"table": "shop.plain", "dry_run": True},
        ),
        case("POST", "/admin/topics", topic(Op.CREATE, "made2"), body={"name": "made2", "columns": "n bigint"}),
        case(
            "POST",
            "/admin/topics",
            topic(Op.CREATE, "made3"),
            table(Op.READ),
            body={"name": "made3", "like": "shop.plain"},
        ),
        case("GET", "/admin/topics", topic(Op.DESCRIBE), shows='"orders"'),
        case("POST", "/admin/topics", topic(Op.CREATE, "made"), body={"name": "made"}),
        case("POST", "/admin/topics", (Op.CREATE, R.CLUSTER, CLUSTER_NAME), body={"name": "made"}),
        case("GET", "/admin/topics/{name}", topic(Op.DESCRIBE), topic(Op.DESCRIBE_CONFIGS)),
        case("PATCH", "/admin/topics/{name}", topic(Op.ALTER), body={"partitions": 2}),
        case("PATCH", "/admin/topics/{name}", topic(Op.ALTER_CONFIGS), body={"config": {"retention.ms": "9"}}),
        case(
            "PATCH",
            "/admin/topics/{name}",
            topic(Op.ALTER),
            topic(Op.ALTER_CONFIGS),
            body={"partitions": 2, "config": {"retention.ms": "9"}},
        ),
        case("DELETE", "/admin/topics/{name}", topic(Op.DELETE)),
        case("GET", "/admin/topics/{name}/table-details", topic(Op.DESCRIBE)),
        case("GET", "/admin/topics/{name}/schemas", topic(Op.DESCRIBE)),
        case("GET", "/admin/topics/{name}/records", topic(Op.READ)),
        case("GET", "/admin/topics/{name}/groups", topic(Op.DESCRIBE)),
        case("GET", "/admin/topics/{name}/groups", topic(Op.DESCRIBE), group(Op.DESCRIBE), shows="readers"),
        case("GET", "/admin/groups", group(Op.DESCRIBE), shows="readers"),
        case("GET", "/admin/groups", group(Op.DESCRIBE), topic(Op.DESCRIBE), shows="orders"),
        case("GET", "/admin/groups/{group:path}", group(Op.DESCRIBE)),
        case("GET", "/admin/groups/{group:path}", group(Op.DESCRIBE), topic(Op.DESCRIBE), shows="orders"),
        case(
            "POST",
            "/admin/groups/{group:path}/reset",
            group(Op.READ),
            topic(Op.READ),
            body={"topic": "orders", "to": "earliest"},
        ),
        case("DELETE", "/admin/groups/{group:path}", group(Op.DELETE)),
        case("GET", "/admin/summary", CLUSTER),
        case("GET", "/admin/catalog", topic(Op.DESCRIBE), shows='"orders"'),
        case("GET", "/admin/catalog", table(Op.DESCRIBE), shows='"plain"'),
        case("GET", "/admin/catalog", view(Op.DESCRIBE), shows='"seen"'),
        case("GET", "/admin/catalog", space(Op.DESCRIBE), shows='"shop"'),
        case("GET", "/admin/traffic", CLUSTER),
        case("GET", "/admin/settings", (Op.DESCRIBE_CONFIGS, R.CLUSTER, CLUSTER_NAME)),
    ]


def _console() -> list[Case]:
    one = "/console/topics/{name}"
    forms: dict[str, Any] = {"form": True}
    return [
        case("GET", "/", CLUSTER),
        case("GET", "/console/topics", topic(Op.DESCRIBE), shows="/console/topics/orders"),
        case("POST", "/console/new-topic", topic(Op.CREATE, "made"), body={"name": "made"}, **forms),
        case(
            "POST", "/console/new-topic", topic(Op.CREATE, "made"), body={"name": "made", "confirmed": "yes"}, **forms
        ),
        case("GET", one, topic(Op.READ)),
        case("GET", one + "/table", topic(Op.DESCRIBE)),
        case("GET", one + "/schema", topic(Op.DESCRIBE)),
        case("GET", one + "/groups", topic(Op.DESCRIBE)),
        case("GET", one + "/groups", topic(Op.DESCRIBE), group(Op.DESCRIBE), shows="readers"),
        case("GET", one + "/quarantine", topic(Op.DESCRIBE)),
        case("POST", one + "/quarantine", topic(Op.WRITE), body={"action": "retry"}, **forms),
        case("POST", one + "/quarantine", topic(Op.DELETE), body={"action": "discard"}, **forms),
        case("POST", one + "/quarantine", topic(Op.DELETE), body={"action": "discard", "confirmed": "yes"}, **forms),
        case("GET", one + "/configs", topic(Op.DESCRIBE), topic(Op.DESCRIBE_CONFIGS)),
        case("POST", one + "/configs", topic(Op.ALTER), body={"partitions": "2", "confirmed": "yes"}, **forms),
        case("POST", one + "/configs", topic(Op.ALTER_CONFIGS), body={"config": "retention.ms", "value": "9"}, **forms),
        case("POST", one + "/delete", topic(Op.DELETE), body={"confirmed": "yes"}, **forms),
        case("GET", "/console/groups", group(Op.DESCRIBE), shows="readers"),
        case("GET", "/console/groups/{group:path}", group(Op.DESCRIBE)),
        case(
            "POST",
            "/console/groups/{group:path}/reset",
            group(Op.READ),
            topic(Op.READ),
            body={"topic": "orders", "to": "earliest", "confirmed": "yes"},
            **forms,
        ),
        case("POST", "/console/groups/{group:path}/delete", group(Op.DELETE), body={"confirmed": "yes"}, **forms),
        case("GET", "/console/catalog", topic(Op.DESCRIBE), shows="orders"),
        case("GET", "/console/catalog", table(Op.DESCRIBE), shows="plain"),
        case("GET", "/console/settings", (Op.DESCRIBE_CONFIGS, R.CLUSTER, CLUSTER_NAME)),
    ]


def _namespaces() -> list[Case]:
    one, shop = _ICEBERG + "/{namespace}", f"{_ICEBERG}/shop"
    change = {"updates": {"a": "b"}}
    return [
        case("GET", _ICEBERG, space(Op.DESCRIBE), shows='"shop"'),
        case("GET", _ICEBERG, table(Op.DESCRIBE), shows='"shop"'),
        case("POST", _ICEBERG, space(Op.CREATE, "made"), body={"namespace": ["made"]}),
        case("POST", _ICEBERG, space(Op.CREATE, "shop.made"), body={"namespace": ["shop", "made"]}),
        case("POST", _ICEBERG, (Op.CREATE, R.CLUSTER, CLUSTER_NAME), body={"namespace": ["made"]}),
        case("HEAD", one, space(Op.DESCRIBE), path=shop),
        case("GET", one, space(Op.DESCRIBE), path=shop),
        case("GET", one, view(Op.DESCRIBE), path=shop),
        case("DELETE", one, space(Op.DELETE), path=shop),
        case("POST", one + "/properties", space(Op.ALTER), path=f"{shop}/properties", body=change),
    ]


def _tables() -> list[Case]:
    all, register = _ICEBERG + "/{namespace}/tables", _ICEBERG + "/{namespace}/register"
    shop, streams = f"{_ICEBERG}/shop/tables", f"{_ICEBERG}/streams/tables"
    commit, rename = "/iceberg/v1/transactions/commit", "/iceberg/v1/tables/rename"
    to_made = {"source": _name("plain"), "destination": _name("made")}
    return [
        case("GET", all, table(Op.DESCRIBE), path=shop, shows='"plain"'),
        case("GET", all, topic(Op.DESCRIBE), path=streams, shows='"orders__log"'),
        case("POST", all, space(Op.CREATE), path=shop, body=NEW_TABLE),
        case("POST", all, table(Op.CREATE, "shop.made"), path=shop, body=NEW_TABLE),
        case("POST", all, table(Op.CREATE, "shop.made"), path=shop, body={**NEW_TABLE, "stage-create": True}),
        case("POST", all, topic(Op.CREATE, "made"), path=streams, body=NEW_TABLE),
        case("POST", all, topic(Op.CREATE, "made"), path=streams, body={**NEW_TABLE, "stage-create": True}),
        case("HEAD", _ONE_TABLE, table(Op.DESCRIBE), path=_PLAIN),
        case("HEAD", _ONE_TABLE, topic(Op.DESCRIBE), path=_OF_TOPIC),
        case("GET", _ONE_TABLE, table(Op.READ), path=_PLAIN),
        case("GET", _ONE_TABLE, topic(Op.READ), path=_OF_TOPIC),
        case("GET", _ONE_TABLE, topic(Op.READ), path=f"{_OF_TOPIC}__log"),
        case("GET", _ONE_TABLE, topic(Op.READ), path=f"{_OF_TOPIC}__quarantine"),
        case("POST", _ONE_TABLE, table(Op.WRITE), path=_PLAIN, body={"requirements": [], "updates": []}),
        case("POST", _ONE_TABLE, table(Op.ALTER), path=_PLAIN, body={"requirements": [], "updates": _PROPERTIES}),
        case("POST", _ONE_TABLE, topic(Op.ALTER), path=_OF_TOPIC, body={"requirements": [], "updates": _PROPERTIES}),
        case(
            "POST",
            _ONE_TABLE,
            table(Op.WRITE),
            table(Op.ALTER),
            path=_PLAIN,
            body={"updates": [*_PROPERTIES, {"action": "remove-statistics", "snapshot-id": 1}]},
        ),
        case(
            "POST",
            _ONE_TABLE,
            table(Op.CREATE, "shop.committed"),
            path=f"{shop}/committed",
            body={"requirements": [{"type": "assert-create"}], "updates": []},
        ),
        case("DELETE", _ONE_TABLE, table(Op.DELETE), path=_PLAIN),
        case("DELETE", _ONE_TABLE, topic(Op.DELETE), path=_OF_TOPIC),
        case("POST", _ONE_TABLE + "/metrics", table(Op.READ), path=f"{_PLAIN}/metrics", body={}),
        case("POST", _ONE_TABLE + "/metrics", topic(Op.READ), path=f"{_OF_TOPIC}/metrics", body={}),
        case(
            "POST",
            register,
            space(Op.CREATE),
            path=f"{_ICEBERG}/shop/register",
            body={"name": "made", "metadata-location": "memory:///x"},
        ),
        case("POST", rename, table(Op.ALTER), table(Op.CREATE, "shop.made"), body=to_made),
        case("POST", rename, topic(Op.ALTER), space(Op.CREATE), body={**to_made, "source": _name("orders", "streams")}),
        case(
            "POST",
            commit,
            table(Op.ALTER),
            topic(Op.ALTER),
            body={
                "table-changes": [
                    {"identifier": _name("plain"), "requirements": [], "updates": _PROPERTIES},
                    {"identifier": _name("orders", "streams"), "requirements": [], "updates": _PROPERTIES},
                ]
            },
        ),
    ]


def _views() -> list[Case]:
    all, shop = _ICEBERG + "/{namespace}/views", f"{_ICEBERG}/shop/views"
    register = _ICEBERG + "/{namespace}/register-view"
    to_made = {"source": _name("seen"), "destination": _name("made")}
    return [
        case("GET", all, view(Op.DESCRIBE), path=shop, shows='"seen"'),
        case("POST", all, space(Op.CREATE), path=shop, body=_VIEW),
        case("POST", all, view(Op.CREATE, "shop.made"), path=shop, body=_VIEW),
        case("HEAD", _ONE_VIEW, view(Op.DESCRIBE), path=_SEEN),
        case("GET", _ONE_VIEW, view(Op.READ), path=_SEEN),
        case("POST", _ONE_VIEW, view(Op.ALTER), path=_SEEN, body={"requirements": [], "updates": _PROPERTIES}),
        case("DELETE", _ONE_VIEW, view(Op.DELETE), path=_SEEN),
        case(
            "POST",
            register,
            view(Op.CREATE, "shop.made"),
            path=f"{_ICEBERG}/shop/register-view",
            body={"name": "made", "metadata-location": "memory:///x"},
        ),
        case("POST", "/iceberg/v1/views/rename", view(Op.ALTER), view(Op.CREATE, "shop.made"), body=to_made),
    ]


def _registry(schema_id: int, guid: str) -> list[Case]:
    one, version = "/registry/subjects/{subject}", "/registry/subjects/{subject}/versions/{version}"
    by_id, check = "/registry/schemas/ids/{id}", "/registry/compatibility/subjects/{subject}/versions"
    found: list[Case] = [
        case("GET", "/registry/schemas/guids/{guid}", topic(Op.READ), path=f"/registry/schemas/guids/{guid}"),
        case("GET", by_id, topic(Op.READ), path=f"/registry/schemas/ids/{schema_id}"),
        case("GET", by_id + "/schema", topic(Op.READ), path=f"/registry/schemas/ids/{schema_id}/schema"),
        case(
            "GET",
            by_id + "/subjects",
            topic(Op.DESCRIBE),
            path=f"/registry/schemas/ids/{schema_id}/subjects",
            shows="orders-value",
        ),
        case(
            "GET",
            by_id + "/versions",
            topic(Op.DESCRIBE),
            path=f"/registry/schemas/ids/{schema_id}/versions",
            shows="orders-value",
        ),
        case("GET", "/registry/subjects", topic(Op.DESCRIBE), shows="orders-value"),
        case("GET", "/registry/subjects", (Op.DESCRIBE, R.SUBJECT, "plain.Subject"), shows="plain.Subject"),
        case("GET", "/registry/schemas", topic(Op.READ), shows="orders-value"),
        case(
            "POST",
            one + "/versions",
            topic(Op.ALTER),
            (Op.READ, R.SUBJECT, "plain.Subject"),
            path="/registry/subjects/orders-value/versions",
            body={**_SUBJECT, "references": [{"name": "x", "subject": "plain.Subject", "version": 1}]},
        ),
    ]
    for subject in ("orders-value", "plain.Subject", ":.:orders-value", "orders%2Dvalue"):
        kind, name = (R.SUBJECT, subject) if subject == "plain.Subject" else (R.TOPIC, "orders")
        path, versions = f"/registry/subjects/{subject}", f"/registry/subjects/{subject}/versions"

        def on(operation: Operation, kind: ResourceType = kind, name: str = name) -> Grant:
            return operation, kind, name

        found += [
            case("POST", one, on(Op.READ), path=path, body=_SUBJECT),
            case("DELETE", one, on(Op.DELETE), path=path),
            case("GET", one + "/versions", on(Op.DESCRIBE), path=versions),
            case("POST", one + "/versions", on(Op.ALTER), path=versions, body=_SUBJECT),
            case("GET", version, on(Op.READ), path=f"{versions}/1"),
            case("DELETE", version, on(Op.DELETE), path=f"{versions}/1"),
            case("GET", version + "/schema", on(Op.READ), path=f"{versions}/1/schema"),
            case("GET", version + "/referencedby", on(Op.DESCRIBE), path=f"{versions}/1/referencedby"),
            case(
                "POST", check, on(Op.READ), path=f"/registry/compatibility/subjects/{subject}/versions", body=_SUBJECT
            ),
            case(
                "POST",
                check + "/{version}",
                on(Op.READ),
                path=f"/registry/compatibility/subjects/{subject}/versions/1",
                body=_SUBJECT,
            ),
        ]
        for setting, body in (("config", {"compatibility": "NONE"}), ("mode", {"mode": "READWRITE"})):
            route = f"/registry/{setting}/{{subject}}"
            found += [
                case("GET", route, on(Op.DESCRIBE_CONFIGS), path=f"/registry/{setting}/{subject}"),
                case("PUT", route, on(Op.ALTER_CONFIGS), path=f"/registry/{setting}/{subject}", body=body),
                case("DELETE", route, on(Op.ALTER_CONFIGS), path=f"/registry/{setting}/{subject}"),
            ]
    for setting, body in (("config", {"compatibility": "NONE"}), ("mode", {"mode": "READWRITE"})):
        alter: Grant = (Op.ALTER_CONFIGS, R.CLUSTER, CLUSTER_NAME)
        found += [
            case("GET", f"/registry/{setting}", (Op.DESCRIBE_CONFIGS, R.CLUSTER, CLUSTER_NAME)),
            case("PUT", f"/registry/{setting}", alter, body=body),
            case("DELETE", f"/registry/{setting}", alter),
        ]
    return found


def _name(name: str, namespace: str = "shop") -> dict[str, Any]:
    return {"namespace": [namespace], "name": name}


VIEW = {**_VIEW, "name": "seen"}
SUBJECT = _SUBJECT
SCHEMA = _SCHEMA

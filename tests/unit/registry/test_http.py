"""The registry's HTTP face: every endpoint, as clients of other registries know it."""

import asyncio
import json
from typing import Any

import pytest

from tests.unit.registry.asking import CONTENT_TYPE, Answer, Asking, asked, record

INT, LONG, STRING = '"int"', '"long"', '"string"'
NEW_FIELD = record(("a", "int"), ("b", "string"))


def test_a_schema_is_registered_once_and_found_again() -> None:
    async def scenario(registry: Asking) -> None:
        first = await registry.register("s", INT)
        again = await registry.register("s", '{"type": "int"}')
        assert (first.status, first.body["id"], first.body["version"]) == (200, 1, 1)
        assert again.body == first.body
        assert first.headers["content-type"] == CONTENT_TYPE
        assert (await registry.get("/schemas/ids/1")).body == {"guid": first.body["guid"], "schema": INT}
        assert (await registry.get("/schemas/ids/1/schema")).body == "int"
        assert (await registry.get(f"/schemas/guids/{first.body['guid']}")).body["schema"] == INT
        found = await registry.ask("POST", "/subjects/s", {"schema": INT})
        assert {key: found.body[key] for key in ("subject", "id", "version", "schema")} == {
            "subject": "s",
            "id": 1,
            "version": 1,
            "schema": INT,
        }

    asked(scenario)


def test_versions_are_listed_and_read() -> None:
    async def scenario(registry: Asking) -> None:
        for schema in (INT, LONG):
            await registry.register("s", schema)
        await registry.register("t", LONG)
        assert (await registry.get("/subjects")).body == ["s", "t"]
        assert (await registry.get("/subjects?subjectPrefix=t")).body == ["t"]
        assert (await registry.get("/subjects?offset=1&limit=5")).body == ["t"]
        assert (await registry.get("/subjects/s/versions")).body == [1, 2]
        for version in ("latest", "2", "-1"):
            assert (await registry.get(f"/subjects/s/versions/{version}")).body["version"] == 2
        assert (await registry.get("/subjects/s/versions/1/schema")).body == "int"
        assert (await registry.get("/schemas/ids/2/versions")).body == [
            {"subject": "s", "version": 2},
            {"subject": "t", "version": 1},
        ]
        assert (await registry.get("/schemas/ids/2/subjects")).body == ["s", "t"]
        assert (await registry.get("/schemas/ids/2/subjects?subject=t")).body == ["t"]
        assert (await registry.get("/schemas/types")).body == ["AVRO", "JSON", "PROTOBUF"]
        listed = (await registry.get("/schemas?latestOnly=true")).body
        assert [(one["subject"], one["version"]) for one in listed] == [("s", 2), ("t", 1)]
        assert (await registry.get("/schemas/ids/1?fetchMaxId=true")).body["maxId"] == 2
        assert (await registry.get("/contexts")).body == ["."]
        assert (await registry.get("/")).body == {}
        assert (await registry.get("/subjects/")).body == ["s", "t"]

    asked(scenario)


def test_formats_other_than_avro_are_named() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("j", {"type": "object"}, schemaType="JSON")
        await registry.register("p", 'syntax = "proto3"; message A { string a = 1; }', schemaType="PROTOBUF")
        assert (await registry.get("/schemas/ids/1")).body["schemaType"] == "JSON"
        assert (await registry.get("/subjects/p/versions/1")).body["schemaType"] == "PROTOBUF"
        serialized = (await registry.get("/schemas/ids/2?format=serialized")).body["schema"]
        assert (await registry.register("p", serialized, schemaType="PROTOBUF")).body["id"] == 2
        assert (await registry.get("/schemas/ids/1?format=serialized")).error_code == 42201

    asked(scenario)


def test_a_breaking_schema_is_refused_with_the_field_and_the_reason() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", record(("a", "int")))
        refused = await registry.register("s", NEW_FIELD)
        assert (refused.status, refused.error_code) == (409, 409)
        message = refused.body["message"]
        assert message.startswith('Schema being registered is incompatible with an earlier schema for subject "s"')
        for part in ("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1", "field 'b'", "version 1", "BACKWARD"):
            assert part in message
        assert (await registry.get("/subjects/s/versions")).body == [1]

    asked(scenario)


def test_a_subject_without_versions_takes_anything_that_is_a_schema() -> None:
    async def scenario(registry: Asking) -> None:
        path = "/compatibility/subjects/new/versions/latest"
        assert (await registry.ask("POST", path, {"schema": INT})).body == {"is_compatible": True}
        assert (await registry.ask("POST", path, {"schema": "nope"})).error_code == 42201

    asked(scenario)


def test_a_subject_keeps_its_format() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", INT)
        refused = await registry.register("s", {"type": "integer"}, schemaType="JSON")
        assert refused.error_code == 409
        assert "SCHEMA_TYPE_CHANGED" in refused.body["message"]

    asked(scenario)


def test_config_of_all_and_of_one() -> None:
    async def scenario(registry: Asking) -> None:
        assert (await registry.get("/config")).body == {"compatibilityLevel": "BACKWARD"}
        assert (await registry.ask("PUT", "/config", {"compatibility": "full"})).body == {"compatibility": "FULL"}
        assert (await registry.get("/config")).body == {"compatibilityLevel": "FULL"}
        assert (await registry.get("/config/s")).error_code == 40408
        assert (await registry.get("/config/s?defaultToGlobal=true")).body == {"compatibilityLevel": "FULL"}
        await registry.ask("PUT", "/config/s", {"compatibility": "NONE", "normalize": True})
        assert (await registry.get("/config/s")).body == {"compatibilityLevel": "NONE", "normalize": True}
        assert (await registry.ask("DELETE", "/config/s")).body == {"compatibilityLevel": "NONE", "normalize": True}
        assert (await registry.ask("DELETE", "/config/s")).error_code == 40401
        assert (await registry.ask("DELETE", "/config")).body == {"compatibilityLevel": "FULL"}
        assert (await registry.get("/config")).body == {"compatibilityLevel": "BACKWARD"}

    asked(scenario)


def test_a_read_only_subject_answers_and_does_not_change() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", INT)
        assert (await registry.ask("PUT", "/mode/s", {"mode": "readonly"})).body == {"mode": "READONLY"}
        assert (await registry.get("/mode/s")).body == {"mode": "READONLY"}
        assert (await registry.register("s", LONG)).error_code == 42205
        assert (await registry.register("s", INT)).body["id"] == 1
        assert (await registry.ask("DELETE", "/subjects/s")).error_code == 42205
        assert (await registry.ask("DELETE", "/subjects/s/versions/1")).error_code == 42205
        assert (await registry.ask("PUT", "/config/s", {"compatibility": "NONE"})).error_code == 42205
        assert (await registry.register("t", LONG)).status == 200
        assert (await registry.ask("DELETE", "/mode/s")).body == {"mode": "READONLY"}
        assert (await registry.register("s", LONG)).status == 200
        assert (await registry.get("/mode/s")).error_code == 40409
        assert (await registry.get("/mode/s?defaultToGlobal=true")).body == {"mode": "READWRITE"}

    asked(scenario)


def test_an_import_brings_its_ids_and_is_not_checked() -> None:
    async def scenario(registry: Asking) -> None:
        assert (await registry.register("s", INT, id=7)).error_code == 42205
        await registry.ask("PUT", "/mode", {"mode": "IMPORT"})
        assert (await registry.register("s", INT)).error_code == 42205
        made = await registry.register("s", INT, id=7, version=3)
        assert (made.body["id"], made.body["version"]) == (7, 3)
        assert (await registry.register("s", STRING, id=9, version=4)).body["id"] == 9
        assert (await registry.register("s", INT, id=8)).error_code == 42207
        assert (await registry.register("s", LONG, id=7)).error_code == 42205
        assert (await registry.ask("PUT", "/mode", {"mode": "READWRITE"})).status == 200
        assert (await registry.register("t", LONG)).body["id"] == 10
        assert (await registry.ask("PUT", "/mode", {"mode": "IMPORT"})).error_code == 42205
        assert (await registry.ask("PUT", "/mode?force=true", {"mode": "IMPORT"})).status == 200

    asked(scenario)


def test_references_are_followed_counted_and_protected() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("line", record(("n", "int"), name="Line"))
        reference = {"name": "Line", "subject": "line", "version": 1}
        made = await registry.register("order", record(("line", "Line")), references=[reference])
        assert (await registry.get(f"/schemas/ids/{made.body['id']}")).body["references"] == [reference]
        assert (await registry.get("/subjects/line/versions/1/referencedby")).body == [made.body["id"]]
        assert (await registry.ask("DELETE", "/subjects/line/versions/1")).error_code == 42206
        assert (await registry.ask("DELETE", "/subjects/line")).error_code == 42206
        lost = {**reference, "version": 9}
        assert (await registry.register("x", record(("line", "Line")), references=[lost])).error_code == 42201
        newest = {**reference, "version": -1}
        again = await registry.register("order", record(("line", "Line")), references=[newest])
        assert again.body["id"] == made.body["id"]
        resolved = await registry.get(f"/schemas/ids/{made.body['id']}?format=resolved")
        assert json.loads(resolved.body["schema"])["fields"][0]["type"]["name"] == "Line"

    asked(scenario)


def test_a_change_in_a_referred_schema_is_seen_by_the_referring_one() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.ask("PUT", "/config/line", {"compatibility": "NONE"})
        await registry.register("line", record(("n", "int"), name="Line"))
        await registry.register("line", record(("n", "string"), name="Line"))

        def reference(version: int) -> dict[str, Any]:
            return {"name": "Line", "subject": "line", "version": version}

        assert (await registry.register("o", record(("l", "Line")), references=[reference(1)])).status == 200
        refused = await registry.register("o", record(("l", "Line")), references=[reference(2)])
        assert refused.error_code == 409
        assert "int was written and cannot be read as string" in refused.body["message"]

    asked(scenario)


def test_deleting_is_soft_then_hard() -> None:
    async def scenario(registry: Asking) -> None:
        for schema in (INT, LONG):
            await registry.register("s", schema)
        assert (await registry.ask("DELETE", "/subjects/s/versions/1?permanent=true")).error_code == 40407
        assert (await registry.ask("DELETE", "/subjects/s/versions/1")).body == 1
        assert (await registry.ask("DELETE", "/subjects/s/versions/1")).error_code == 40406
        assert (await registry.get("/subjects/s/versions/1")).error_code == 40402
        assert (await registry.get("/subjects/s/versions/1?deleted=true")).body["deleted"] is True
        assert (await registry.get("/subjects/s/versions?deleted=true")).body == [1, 2]
        assert (await registry.get("/subjects/s/versions?deletedOnly=true")).body == [1]
        assert (await registry.get("/schemas/ids/1")).status == 200
        assert (await registry.ask("POST", "/subjects/s", {"schema": INT})).error_code == 40403
        assert (await registry.ask("POST", "/subjects/s?deleted=true", {"schema": INT})).body["version"] == 1
        assert (await registry.ask("DELETE", "/subjects/s?permanent=true")).error_code == 40405
        assert (await registry.ask("DELETE", "/subjects/s/versions/latest")).body == 2
        assert (await registry.get("/subjects")).body == []
        assert (await registry.get("/subjects?deleted=true")).body == ["s"]
        assert (await registry.ask("DELETE", "/subjects/s")).error_code == 40404
        assert (await registry.ask("DELETE", "/subjects/s?permanent=true")).body == [1, 2]
        assert (await registry.ask("DELETE", "/subjects/s?permanent=true")).error_code == 40401
        assert (await registry.get("/schemas/ids/1")).error_code == 40403

    asked(scenario)


def test_normalizing_makes_one_schema_of_two_spellings() -> None:
    async def scenario(registry: Asking) -> None:
        one = '{"type":"object","properties":{"a":{},"b":{}}}'
        other = '{"properties":{"b":{},"a":{}},"type":"object"}'
        ids = [
            (await registry.register("j", text, query="?normalize=true", schemaType="JSON")).body["id"]
            for text in (one, other)
        ]
        assert ids == [1, 1]
        assert (await registry.register("k", other, schemaType="JSON")).body["id"] == 2
        await registry.ask("PUT", "/config/l", {"normalize": True})
        assert (await registry.register("l", other, schemaType="JSON")).body["id"] == 1

    asked(scenario)


def test_a_subject_may_hold_slashes_and_anything_else() -> None:
    async def scenario(registry: Asking) -> None:
        for sent, meant in [("a%2Fb.proto", "a/b.proto"), ("%C3%85%20%3F%25", "Å ?%"), ("x%2Fversions", "x/versions")]:
            assert (await registry.register(sent, INT)).status == 200
            assert (await registry.get(f"/subjects/{sent}/versions/1")).body["subject"] == meant

    asked(scenario)


def test_registrations_at_once_follow_one_another() -> None:
    async def scenario(registry: Asking) -> None:
        schemas = [record(*((f"f{n}", "int", 0) for n in range(count))) for count in range(1, 13)]
        made = await asyncio.gather(*(registry.register("s", schema) for schema in schemas))
        assert sorted(one.body["version"] for one in made) == list(range(1, 13))
        assert sorted(one.body["id"] for one in made) == list(range(1, 13))
        same = await asyncio.gather(*(registry.register(f"t{n % 3}", STRING) for n in range(12)))
        assert {(one.body["id"], one.body["version"]) for one in same} == {(13, 1)}

    asked(scenario)


async def _codes(registry: Asking) -> dict[int, Answer]:
    await registry.register("s", record(("a", "int")))
    asks = [
        await registry.get("/subjects/none/versions"),
        await registry.get("/subjects/s/versions/9"),
        await registry.get("/schemas/ids/9"),
        await registry.register("s", NEW_FIELD),
        await registry.register("s", "{"),
        await registry.get("/subjects/s/versions/zero"),
        await registry.ask("PUT", "/config", {"compatibility": "SOMEHOW"}),
        await registry.ask("PUT", "/mode", {"mode": "SOMEHOW"}),
        await registry.register("s", INT, id=5),
        await registry.register("%00", INT),
        await registry.register("s", '"' + "x" * 1_100_000 + '"'),
        await registry.register("s", INT, ruleSet={"domainRules": [{}]}),
        await registry.register("s", INT, metadata={"properties": {"owner": "me"}}),
        await registry.get("/nowhere"),
        await registry.ask("PATCH", "/subjects"),
        await registry.ask("POST", "/subjects/s", b"{"),
        await registry.ask("POST", "/subjects/s", {"schema": 7}),
        await registry.ask("POST", "/subjects/s", {"schema": INT, "unknown": 1}),
        await registry.ask("POST", "/subjects/s", {"schema": INT}, content_type="text/plain"),
        await registry.get("/subjects", accept="text/html"),
        await registry.ask("POST", "/subjects/s/versions", b" " * 9_000_000),
    ]
    return {answer.error_code: answer for answer in asks}


def test_every_mistake_has_the_code_that_clients_know() -> None:
    async def scenario(registry: Asking) -> None:
        codes = await _codes(registry)
        assert {code: answer.status for code, answer in codes.items()} == {
            40401: 404,
            40402: 404,
            40403: 404,
            409: 409,
            42201: 422,
            42202: 422,
            42203: 422,
            42204: 422,
            42205: 422,
            42208: 422,
            42209: 422,
            42210: 422,
            404: 404,
            405: 405,
            400: 400,
            422: 422,
            415: 415,
            406: 406,
            413: 413,
        }
        assert codes[40401].body["message"] == "Subject 'none' not found."
        assert codes[40402].body["message"] == "Version 9 not found."
        assert codes[40403].body["message"] == "Schema 9 not found"

    asked(scenario)


def test_a_client_that_does_not_skip_what_it_does_not_know_gets_the_id_alone() -> None:
    async def scenario(registry: Asking) -> None:
        answer = await registry.ask("POST", "/subjects/s/versions", {"schema": INT})
        assert answer.body == {"id": 1}

    asked(scenario)


def test_unknown_properties_pass_where_the_client_says_so() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", INT)
        body = {"schema": INT, "unknown": 1}
        answer = await registry.ask("POST", "/subjects/s", body, confluent_accept_unknown_properties="true")
        assert answer.status == 200

    asked(scenario)


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        ("*/*", CONTENT_TYPE),
        ("application/json", "application/json"),
        ("application/vnd.schemaregistry+json, application/json;q=0.5", "application/vnd.schemaregistry+json"),
    ],
)
def test_the_answer_has_a_type_that_the_client_takes(accept: str, given: str) -> None:
    async def scenario(registry: Asking) -> None:
        assert (await registry.get("/subjects", accept=accept)).headers["content-type"] == given

    asked(scenario)


def test_the_only_context_may_be_spelled_out_and_there_is_no_other() -> None:
    async def scenario(registry: Asking) -> None:
        assert (await registry.register(":.:s", INT)).body["id"] == 1
        assert (await registry.register("s", INT)).body["version"] == 1
        assert (await registry.get("/subjects/:.:s/versions/latest")).body["subject"] == "s"
        for prefix in ("", ":.:", ":*:", ":*:s"):
            assert (await registry.get(f"/subjects?subjectPrefix={prefix}")).body == ["s"]
        assert [one["subject"] for one in (await registry.get("/schemas?subjectPrefix=:*:")).body] == ["s"]
        assert (await registry.get("/schemas/ids/1/versions?subject=:.:s")).body == [{"subject": "s", "version": 1}]
        assert (await registry.ask("PUT", "/config/:.:s", {"compatibility": "NONE"})).status == 200
        assert (await registry.get("/config/s")).body == {"compatibilityLevel": "NONE"}
        assert (await registry.register(":.other:s", INT)).error_code == 42208

    asked(scenario)


JAVA = {
    "accept": "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json; q=0.9, "
    "application/json; q=0.5",
    "confluent_accept_unknown_properties": "true",
    "confluent_client_version": "8.1.0",
}
"""What the Java client sends with every request."""


def test_requests_are_answered_as_the_java_client_sends_them() -> None:
    """Its serializers register, look up and read with these paths and bodies; nulls stand for what it leaves out."""

    async def scenario(registry: Asking) -> None:
        body = {"schemaType": None, "references": [], "metadata": None, "ruleSet": None, "schema": INT}
        made = await registry.ask("POST", "/subjects/s-value/versions?normalize=false", body, **JAVA)
        assert (made.status, made.body["id"], made.body["version"]) == (200, 1, 1)
        found = await registry.ask("POST", "/subjects/s-value?normalize=false&deleted=true", body, **JAVA)
        assert (found.body["subject"], found.body["id"], found.body["version"]) == ("s-value", 1, 1)
        by_id = await registry.get("/schemas/ids/1?fetchMaxId=false&subject=s-value", **JAVA)
        assert by_id.body["schema"] == INT
        latest = await registry.get("/subjects/s-value/versions/latest", **JAVA)
        assert {"subject", "version", "id", "schema"} <= latest.body.keys()
        path = "/compatibility/subjects/s-value/versions/latest?verbose=true&normalize=false"
        judged = await registry.ask("POST", path, body | {"schema": STRING}, **JAVA)
        assert judged.body["is_compatible"] is False
        assert "int was written and cannot be read as string" in judged.body["messages"][0]
        refused = await registry.ask("POST", "/subjects/s-value/versions", body | {"schema": STRING}, **JAVA)
        assert (refused.status, refused.error_code) == (409, 409)
        nested = body | {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; message A {}', "version": 0, "id": -1}
        assert (await registry.ask("POST", "/subjects/p-value/versions", nested, **JAVA)).body["id"] == 2

    asked(scenario)

"""What someone may send to hurt: it is refused with a code, the registry answers on, and nothing is stored."""

import json
from typing import Any

import pytest

from lakestream.contract.registry.limits import REFERENCE_DEPTH_MAX
from tests.unit.registry.asking import Asking, asked, record

DEEP = 20_000


@pytest.mark.parametrize(
    ("schema", "more"),
    [
        ("[" * DEEP + "]" * DEEP, {}),
        ('{"type":"array","items":' * 99 + '"int"' + "}" * 99 + " ", {"references": [{"name": "x"}]}),
        ('{"items":' * DEEP + "true" + "}" * DEEP, {"schemaType": "JSON"}),
        ("message A {" * DEEP + "}" * DEEP, {"schemaType": "PROTOBUF"}),
        ("\ud800", {}),
        ('"\\ud800"', {"schemaType": "JSON"}),
        ('{"title": "\\ud800"}', {"schemaType": "JSON"}),
        ("\x00", {}),
        ("", {}),
        ("   ", {"schemaType": "PROTOBUF"}),
        ("1e999999999", {}),
        ("9" * 100_000, {"schemaType": "JSON"}),
        ('{"multipleOf": 1e-400}', {"schemaType": "JSON"}),
        ('{"type": "record", "name": "R", "fields": {"a": 1}}', {}),
        ('{"type": "record", "name": {"a": 1}, "fields": []}', {}),
        ('{"type": "enum", "name": "E", "symbols": [["A"]]}', {}),
        ('{"type": "enum", "name": "E", "symbols": ["A"], "default": {}}', {}),
        ('{"required": "a"}', {"schemaType": "JSON"}),
        ('{"$ref": "#/%ff"}', {"schemaType": "JSON"}),
        ('{"$ref": 7}', {"schemaType": "JSON"}),
        ('{"$id": "http://[", "$ref": "x"}', {"schemaType": "JSON"}),
        ('{"$schema": ["http://json-schema.org/draft-07/schema#"]}', {"schemaType": "JSON"}),
        ("AAAA", {"schemaType": "PROTOBUF"}),
        ("CgE=", {"schemaType": "PROTOBUF"}),
        ('"int"', {"schemaType": "XML"}),
        ('"int"', {"schemaType": ["AVRO"]}),
        ('"int"', {"references": [7]}),
        ('"int"', {"references": {"a": 1}}),
        ('"int"', {"references": [{"name": "a", "subject": "", "version": 1}]}),
        ('"int"', {"references": [{"name": "a", "subject": "\ud800", "version": 1}]}),
        ('"int"', {"references": [{"name": "a", "subject": "s", "version": 2**40}]}),
        ('"int"', {"references": [{"name": "a", "subject": "s", "version": True}]}),
        ('"int"', {"id": "1"}),
        ('"int"', {"id": 2**31}),
    ],
)
def test_it_is_refused_and_nothing_is_stored(schema: str, more: dict[str, Any]) -> None:
    async def scenario(registry: Asking) -> None:
        answer = await registry.register("s", schema, **more)
        assert 400 <= answer.error_code < 500 or 42200 < answer.error_code < 42300, answer
        assert (await registry.get("/subjects?deleted=true")).body == []
        assert (await registry.register("s", '"int"')).body["id"] == 1

    asked(scenario)


@pytest.mark.parametrize(
    "path",
    [
        "/subjects/%00/versions",
        "/subjects/%ED%A0%80/versions",
        "/subjects/%FF%FE/versions",
        "/subjects/" + "x" * 600 + "/versions",
        "/subjects/:.context:s/versions",
        "/subjects/__GLOBAL/versions",
        "/subjects/s/versions/99999999999999999999",
        "/subjects/s/versions/%C2%B2",
        "/schemas/ids/-1",
        "/schemas/ids/%C2%B2",
        "/schemas/ids/99999999999999999999999",
        "/schemas/guids/%00",
        "/subjects?offset=x",
    ],
)
def test_odd_paths_are_answered(path: str) -> None:
    async def scenario(registry: Asking) -> None:
        assert str((await registry.get(path)).error_code)[0] == "4"

    asked(scenario)


def test_odd_windows_are_answered() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", '"int"')
        for query in ("offset=-5", "limit=99999999999", "offset=99999999999", "subjectPrefix=%00", "limit=0"):
            for path in ("/subjects", "/schemas", "/schemas/ids/1/versions"):
                assert (await registry.get(f"{path}?{query}")).status == 200, (path, query)

    asked(scenario)


def test_a_chain_of_references_has_an_end() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s0", record(name="R0"))
        for n in range(1, REFERENCE_DEPTH_MAX + 1):
            before = {"name": f"R{n - 1}", "subject": f"s{n - 1}", "version": 1}
            made = await registry.register(f"s{n}", record(("a", f"R{n - 1}"), name=f"R{n}"), references=[before])
            assert made.status == 200, made
        last = {"name": f"R{n}", "subject": f"s{n}", "version": 1}
        too_far = await registry.register("end", record(("a", f"R{n}"), name="End"), references=[last])
        assert too_far.error_code == 42209

    asked(scenario)


def test_references_that_multiply_are_read_once_each() -> None:
    """Each schema refers twice to the one before: 2^14 paths, 15 schemas."""

    async def scenario(registry: Asking) -> None:
        await registry.register("s0", record(name="R0"))
        for n in range(1, 15):
            before = {"name": f"R{n - 1}", "subject": f"s{n - 1}", "version": 1}
            fields = (("a", f"R{n - 1}"), ("b", f"R{n - 1}"))
            made = await registry.register(f"s{n}", record(*fields, name=f"R{n}"), references=[before])
            assert made.status == 200, made
        wider = record(("a", "R13"), ("b", "R13"), ("c", "int", 0), name="R14")
        before = {"name": "R13", "subject": "s13", "version": 1}
        assert (await registry.register("s14", wider, references=[before])).body["version"] == 2

    asked(scenario)


def test_one_name_for_two_versions_is_refused() -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("a", record(("x", "int"), name="A"))
        await registry.register("a", record(("x", "int"), ("y", "int", 0), name="A"))
        first, second = ({"name": "A", "subject": "a", "version": version} for version in (1, 2))
        await registry.register("b", record(("a", "A"), name="B"), references=[first])
        through = {"name": "B", "subject": "b", "version": 1}
        refused = await registry.register("c", record(("b", "B"), name="C"), references=[through, second])
        assert refused.error_code == 42201
        assert "leads to two versions" in refused.body["message"]

    asked(scenario)


def test_a_large_honest_schema_is_accepted() -> None:
    async def scenario(registry: Asking) -> None:
        large = record(*((f"a_field_with_a_rather_long_name_{n}", ["null", "string"], None) for n in range(8_000)))
        assert len(json.dumps(large)) > 600_000
        assert (await registry.register("s", large)).body["id"] == 1
        larger = {**large, "fields": [*large["fields"], {"name": "one_more", "type": "int", "default": 0}]}
        assert (await registry.register("s", larger)).body["version"] == 2

    asked(scenario)

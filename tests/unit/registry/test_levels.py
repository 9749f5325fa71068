"""Compatibility levels, as clients ask for them: each allows what it says, and transitive ones look further back."""

import json
from typing import Any

import pytest

from tests.unit.registry.asking import Asking, asked, record

LEVELS = {
    "NONE": "add remove narrow",
    "BACKWARD": "remove",
    "FORWARD": "add narrow",
    "FULL": "",
    "BACKWARD_TRANSITIVE": "remove",
    "FORWARD_TRANSITIVE": "add narrow",
    "FULL_TRANSITIVE": "",
}
CHANGES = {
    "add": record(("a", "long"), ("b", "string"), ("c", "int")),
    "remove": record(("a", "long")),
    "narrow": record(("a", "int"), ("b", "string")),
}


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_allows_what_it_says(level: str) -> None:
    async def scenario(registry: Asking) -> None:
        await registry.register("s", record(("a", "long"), ("b", "string")))
        await registry.ask("PUT", "/config/s", {"compatibility": level})
        for name, schema in CHANGES.items():
            body = {"schema": json.dumps(schema)}
            checked = await registry.ask("POST", "/compatibility/subjects/s/versions/latest?verbose=true", body)
            assert checked.body["is_compatible"] is (name in LEVELS[level].split()), (name, checked.body)
            assert bool(checked.body["messages"]) is not checked.body["is_compatible"]

    asked(scenario)


def test_only_a_transitive_level_looks_further_back_than_the_latest() -> None:
    async def scenario(registry: Asking) -> None:
        first, second = record(("a", "int")), record(("a", "int"), ("b", "int", 0))
        third = record(("a", "int"), ("b", "int"))
        for schema in (first, second):
            await registry.register("s", schema)
        body = {"schema": json.dumps(third)}
        assert (await registry.ask("POST", "/compatibility/subjects/s/versions", body)).body["is_compatible"]
        assert not (await registry.ask("POST", "/compatibility/subjects/s/versions/1", body)).body["is_compatible"]
        await registry.ask("PUT", "/config/s", {"compatibility": "BACKWARD_TRANSITIVE"})
        refused = await registry.ask("POST", "/compatibility/subjects/s/versions?verbose=true", body)
        assert not refused.body["is_compatible"]
        assert "version 1" in refused.body["messages"][0]
        assert (await registry.register("s", third)).error_code == 409
        await registry.ask("PUT", "/config/s", {"compatibility": "BACKWARD"})
        assert (await registry.register("s", third)).body["version"] == 3

    asked(scenario)


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TWO_STEPS = {
    "AVRO": [record(("a", "int")), record(("a", "int"), ("b", "int", 0)), record(("a", "int"), ("b", "int"))],
    "JSON": [
        _closed([], a={}),
        _closed(["b"], a={}, b={"type": "integer", "default": 0}),
        _closed(["b"], a={}, b={"type": "integer"}),
    ],
    "PROTOBUF": [
        f'syntax = "proto3"; message A {{ int32 a = 1; {field} }}' for field in ("string b = 2;", "", "int32 b = 2;")
    ],
}
"""Each step alone can be read; both at once cannot."""


@pytest.mark.parametrize("format", TWO_STEPS)
@pytest.mark.parametrize("level", ["BACKWARD", "FORWARD", "FULL"])
def test_what_two_steps_allow_is_refused_by_every_transitive_level(format: str, level: str) -> None:
    """What is to be read by older readers goes the steps in the other order."""

    async def scenario(registry: Asking) -> None:
        backwards = level == "FORWARD" and format != "PROTOBUF"
        first, second, third = TWO_STEPS[format][::-1] if backwards else TWO_STEPS[format]
        await registry.ask("PUT", "/config/s", {"compatibility": "NONE"})
        for schema in (first, second):
            assert (await registry.register("s", schema, schemaType=format)).status == 200
        await registry.ask("PUT", "/config/s", {"compatibility": f"{level}_TRANSITIVE"})
        refused = await registry.register("s", third, schemaType=format)
        assert (refused.status, "version 1" in refused.body["message"]) == (409, True)
        assert "version 2" not in refused.body["message"]
        await registry.ask("PUT", "/config/s", {"compatibility": level})
        made = await registry.register("s", third, schemaType=format)
        assert made.status == 200, made.body

    asked(scenario)

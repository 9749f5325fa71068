"""A version that a topic's table could not follow is refused when it is registered, whatever the subject's level."""

import json
from typing import Any

import pytest

from lakestream.model.topic import TopicSpec
from tests.unit.registry.asking import Asking, asked, record

INCOMPATIBLE = 409
PROTO = 'syntax = "proto3"; message Order { %s }'


async def topic(asking: Asking, name: str = "orders", **config: str) -> None:
    spec = TopicSpec(id=name.encode().ljust(16, b"\0"), name=name, partitions=1, config=_dotted(config))
    await asking.metadata.create_topic(spec)


def _dotted(config: dict[str, str]) -> dict[str, str]:
    return {f"lakestream.value.{name}": value for name, value in config.items()}


async def no_level(asking: Asking, subject: str = "orders-value") -> None:
    await asking.ask("PUT", f"/config/{subject}", {"compatibility": "NONE"})


@pytest.mark.parametrize(
    ("format", "kind", "old", "new", "why"),
    [
        (
            "avro",
            "AVRO",
            json.dumps(record(("id", "string"))),
            json.dumps(record(("id", "long"))),
            "column 'id' is string and cannot become long",
        ),
        (
            "protobuf",
            "PROTOBUF",
            PROTO % "string id = 1;",
            PROTO % "int64 id = 1;",
            "column 'id' is string and cannot become long",
        ),
        (
            "json",
            "JSON",
            '{"type": "object", "properties": {"id": {"type": "boolean"}}}',
            '{"type": "object", "properties": {"id": {"type": "string"}}}',
            "column 'id' is boolean and cannot become string",
        ),
    ],
)
def test_a_version_whose_columns_the_table_cannot_have_is_refused_even_without_a_level(
    format: str, kind: str, old: str, new: str, why: str
) -> None:
    async def scenario(asking: Asking) -> None:
        more = {"schema": "id"} if format == "json" else {}
        await topic(asking, format=format, **more)
        await no_level(asking)
        assert (await asking.register("orders-value", old, schemaType=kind)).status == 200
        refused = await asking.register("orders-value", new, schemaType=kind)
        assert (refused.status, refused.error_code) == (INCOMPATIBLE, INCOMPATIBLE)
        assert why in refused.body["message"]
        assert "the table of topic 'orders'" in refused.body["message"]
        checked = await asking.ask(
            "POST", "/compatibility/subjects/orders-value/versions/latest?verbose=true", _body(new, kind)
        )
        assert checked.body["is_compatible"] is False
        assert why in checked.body["messages"][0]

    asked(scenario)


def _body(schema: str, kind: str) -> dict[str, Any]:
    return {"schema": schema, "schemaType": kind}


def test_versions_that_widen_add_and_drop_columns_are_followed() -> None:
    async def scenario(asking: Asking) -> None:
        await topic(asking, format="protobuf")
        for fields in ("int32 id = 1;", "int64 number = 1; string name = 2;", "string name = 2;", "int64 id = 1;"):
            assert (await asking.register("orders-value", PROTO % fields, schemaType="PROTOBUF")).status == 200

    asked(scenario)


def test_a_version_is_held_against_columns_that_deleted_versions_left_in_the_table() -> None:
    async def scenario(asking: Asking) -> None:
        await topic(asking, format="protobuf")
        await no_level(asking)
        await asking.register("orders-value", PROTO % "string id = 1;", schemaType="PROTOBUF")
        await asking.register("orders-value", PROTO % "string other = 2;", schemaType="PROTOBUF")
        await asking.ask("DELETE", "/subjects/orders-value/versions/1")
        refused = await asking.register("orders-value", PROTO % "int32 id = 1;", schemaType="PROTOBUF")
        assert refused.status == INCOMPATIBLE

    asked(scenario)


def test_subjects_of_no_typed_topic_are_free() -> None:
    async def scenario(asking: Asking) -> None:
        await topic(asking, "plain", format="raw")
        await topic(asking, "renamed", format="protobuf", subject="elsewhere")
        for subject in ("plain-value", "renamed-value", "nobody"):
            await no_level(asking, subject)
            await asking.register(subject, PROTO % "string id = 1;", schemaType="PROTOBUF")
            assert (await asking.register(subject, PROTO % "int32 id = 1;", schemaType="PROTOBUF")).status == 200
        await no_level(asking, "elsewhere")
        await asking.register("elsewhere", PROTO % "string id = 1;", schemaType="PROTOBUF")
        refused = await asking.register("elsewhere", PROTO % "int32 id = 1;", schemaType="PROTOBUF")
        assert "topic 'renamed'" in refused.body["message"]

    asked(scenario)


def test_a_schema_with_more_columns_than_a_table_has_is_refused() -> None:
    async def scenario(asking: Asking) -> None:
        await topic(asking, format="protobuf")
        giant = PROTO % " ".join(f"string f{number} = {number};" for number in range(1, 2_100))
        refused = await asking.register("orders-value", giant, schemaType="PROTOBUF")
        assert "more than 2,000 columns" in refused.body["message"]

    asked(scenario)


def test_versions_from_before_the_topic_that_no_table_could_follow_do_not_stand_in_the_way() -> None:
    async def scenario(asking: Asking) -> None:
        await no_level(asking)
        await asking.register("orders-value", PROTO % "string id = 1;", schemaType="PROTOBUF")
        await asking.register("orders-value", PROTO % "int32 id = 1;", schemaType="PROTOBUF")
        await topic(asking, format="protobuf")
        added = PROTO % "string id = 1; bool paid = 2;"
        assert (await asking.register("orders-value", added, schemaType="PROTOBUF")).status == 200

    asked(scenario)


def test_the_topics_message_is_the_one_that_counts() -> None:
    async def scenario(asking: Asking) -> None:
        await topic(asking, format="protobuf", message="Second")
        await no_level(asking)
        text = 'syntax = "proto3"; message First { %s a = 1; } message Second { string a = 1; }'
        await asking.register("orders-value", text % "string", schemaType="PROTOBUF")
        assert (await asking.register("orders-value", text % "int32", schemaType="PROTOBUF")).status == 200
        gone = await asking.register("orders-value", PROTO % "string a = 1;", schemaType="PROTOBUF")
        assert "defines no message 'Second'" in gone.body["message"]

    asked(scenario)

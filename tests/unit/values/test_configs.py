"""What topic configs say of values and keys, and which of them make no sense together."""

import pytest

from lakestream.contract.topic.value_config import PartConfig, SchemaSource, ValueFormat, value_config_of
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.errors import InvalidTopicConfig


def test_keys_are_bytes_unless_someone_says_otherwise() -> None:
    assert value_config_of("orders", {}).key is None
    assert value_config_of("orders", {"lakestream.key.format": "avro"}).key == PartConfig(
        format=ValueFormat.AVRO, source=SchemaSource.ID, subject="orders-key"
    )
    assert value_config_of("orders", {"lakestream.key.format": "json", "lakestream.key.subject": "k"}).key == (
        PartConfig(format=ValueFormat.JSON, source=SchemaSource.INFERRED, subject="k")
    )


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"format": "avro", "schema": "inferred"}, "format=json"),
        ({"format": "string", "schema": "latest"}, "avro"),
        ({"format": "raw", "schema": "latest"}, "avro"),
        ({"format": "auto", "schema": "latest"}, "avro"),
        ({"format": "string", "schema": "id"}, "leave it out"),
        ({"format": "avro", "message": "a.B"}, "format=protobuf"),
        ({"format": "xml"}, "one of: auto, raw, string, json, avro, protobuf"),
    ],
    ids=str,
)
def test_what_would_have_no_effect_is_refused_with_advice(part: str, settings: dict[str, str], advice: str) -> None:
    config = {f"lakestream.{part}.{name}": value for name, value in settings.items()}
    with pytest.raises(InvalidTopicConfig, match=rf"lakestream\.{part}.*{advice}"):
        check_topic_config(config)


def test_a_subject_of_keys_is_refused_while_keys_have_no_schema() -> None:
    with pytest.raises(InvalidTopicConfig, match=r"lakestream\.key\.format"):
        check_topic_config({"lakestream.key.subject": "customers"})
    check_topic_config({"lakestream.key.subject": "customers", "lakestream.key.format": "auto"})


@pytest.mark.parametrize("part", ["key", "value"])
def test_settings_that_go_together_pass(part: str) -> None:
    for settings in (
        {"format": "json", "schema": "inferred"},
        {"format": "json", "schema": "id"},
        {"format": "protobuf", "schema": "latest", "message": "a.B", "subject": "s"},
        {"format": "auto", "message": "a.B"},
    ):
        check_topic_config({f"lakestream.{part}.{name}": value for name, value in settings.items()})

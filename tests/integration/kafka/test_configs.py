"""Configs over the wire: of topics, which can be set, and of brokers and groups, which are shown."""

from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import batch
from .wire_client import WireClient

UNKNOWN_TOPIC, INVALID_TOPIC, UNSUPPORTED_VERSION, INVALID_CONFIG, INVALID_REQUEST = 3, 17, 35, 40, 42
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
describe, replace, edit, listing = messages.api(32), messages.api(33), messages.api(44), messages.api(74)


def _describe(client: WireClient, kind: int, name: str, keys: list[str] | None = None, version: int = 4) -> Any:
    resource = describe.request.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    body = describe.Request(resources=[resource], include_synonyms=True, include_documentation=True)
    (answer,) = client.call(32, version, body).results
    return answer


def _value(client: WireClient, topic: str, key: str) -> tuple[str, int]:
    (shown,) = _describe(client, TOPIC, topic, [key]).configs
    return shown.value, shown.config_source


def _edit(client: WireClient, topic: str, *edits: tuple[str, int, str | None], validate_only: bool = False) -> int:
    configs = [edit.request.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in edits]
    resource = edit.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=configs)
    (answer,) = client.call(44, 1, edit.Request(resources=[resource], validate_only=validate_only)).responses
    return int(answer.error_code.value)


WITHOUT_EFFECT = {
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
}
"""Configs that concern disks, replicas and a cleaner of which there is none."""


def test_every_topic_config_is_described(name: str, client: WireClient) -> None:
    client.create_topic(name, retention_ms="1000")
    configs = {each.name: each for each in _describe(client, TOPIC, name).configs}
    own = {name for name in configs if name.startswith("lakestream.")}
    assert {"lakestream.table.on-topic-delete", "lakestream.value.format"} <= own
    assert (
        set(configs) - own
        == {
            "cleanup.policy",
            "compression.type",
            "max.message.bytes",
            "message.timestamp.after.max.ms",
            "message.timestamp.before.max.ms",
            "message.timestamp.type",
            "retention.bytes",
            "retention.ms",
        }
        | WITHOUT_EFFECT
    )
    assert [(each.value, each.source) for each in configs["retention.ms"].synonyms] == [("1000", 1), ("-1", 5)]
    assert [(each.value, each.source) for each in configs["retention.bytes"].synonyms] == [("-1", 5)]
    assert configs["retention.ms"].config_type == 5
    assert all(each.documentation for each in configs.values())
    silent = {each.name for each in configs.values() if each.documentation.startswith("No effect here: ")}
    assert silent == WITHOUT_EFFECT


def test_what_kafka_streams_sets_on_its_topics_is_taken_and_shown(name: str, client: WireClient) -> None:
    client.create_topic(
        name, segment_bytes="52428800", cleanup_policy="delete", retention_ms="-1", message_timestamp_type="CreateTime"
    )
    (shown,) = _describe(client, TOPIC, name, ["segment.bytes"]).configs
    assert (shown.value, shown.config_source) == ("52428800", 1)
    assert shown.documentation.startswith("No effect here: ")
    assert _edit(client, name, ("segment.bytes", 0, "small")) == INVALID_CONFIG


def test_keys_filter_what_is_described(topic: str, client: WireClient) -> None:
    assert [each.name for each in _describe(client, TOPIC, topic, ["retention.ms", "no.such"]).configs] == [
        "retention.ms"
    ]
    assert len(_describe(client, TOPIC, topic, []).configs) > 20


def test_a_broker_describes_itself_and_no_other(client: WireClient) -> None:
    configs = {each.name: each for each in _describe(client, BROKER, "1").configs}
    assert configs["auto.create.topics.enable"].value == "true"
    assert configs["broker.id"].value == "1"
    assert all(each.read_only for each in configs.values())
    assert _describe(client, BROKER, "2").error_code.value == INVALID_REQUEST
    assert _describe(client, BROKER, "").configs == ()
    assert _describe(client, 8, "1").error_code.value == INVALID_REQUEST
    assert _describe(client, TOPIC, "nowhere").error_code.value == UNKNOWN_TOPIC
    assert _describe(client, TOPIC, "no/name").error_code.value == INVALID_TOPIC


def test_configs_are_edited_one_by_one(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000"), ("retention.bytes", 0, "2000")) == 0
    assert _value(client, topic, "retention.ms") == ("1000", 1)
    assert _edit(client, topic, ("retention.ms", 1, None)) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _value(client, topic, "retention.bytes") == ("2000", 1)
    assert _edit(client, topic, ("cleanup.policy", 2, "delete")) == 0


def test_resetting_a_config_that_there_is_not_resets_the_others(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000")) == 0
    assert _edit(client, topic, ("no.such", 1, None), ("retention.ms", 1, None)) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_booleans_are_taken_in_any_case_and_kept_in_lower(name: str, client: WireClient) -> None:
    client.create_topic(name, preallocate="True")
    assert _value(client, name, "preallocate") == ("true", 1)
    assert _edit(client, name, ("preallocate", 0, "FALSE"), ("lakestream.table.enable", 0, "False")) == 0
    assert _value(client, name, "preallocate") == ("false", 1)
    assert _value(client, name, "lakestream.table.enable") == ("false", 1)
    assert _edit(client, name, ("preallocate", 0, "yes")) == INVALID_CONFIG


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("no.such", 0, "1")], INVALID_CONFIG),
        ([("retention.ms", 0, "soon")], INVALID_CONFIG),
        ([("retention.ms", 0, None)], INVALID_CONFIG),
        ([("retention.ms", 2, "5")], INVALID_CONFIG),
        ([("cleanup.policy", 3, "delete")], INVALID_CONFIG),
        ([("retention.ms", 9, "5")], INVALID_REQUEST),
        ([("retention.ms", 0, "5"), ("retention.ms", 0, "6")], INVALID_REQUEST),
        ([("retention.ms", 0, "5"), ("no.such", 0, "6")], INVALID_CONFIG),
    ],
)
def test_a_wrong_edit_changes_nothing(
    edits: list[tuple[str, int, str | None]], code: int, topic: str, client: WireClient
) -> None:
    assert _edit(client, topic, *edits) == code
    assert _edit(client, topic, *edits, validate_only=True) == code
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_validating_an_edit_changes_nothing(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000"), validate_only=True) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _edit(client, "nowhere", ("retention.ms", 0, "1000")) == UNKNOWN_TOPIC


def test_replacing_configs_resets_what_is_not_named(topic: str, client: WireClient) -> None:
    _edit(client, topic, ("retention.ms", 0, "1000"))
    config = replace.request.AlterableConfig(name="retention.bytes", value="77")
    resource = replace.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[config])
    (answer,) = client.call(33, 2, replace.Request(resources=[resource])).responses
    assert answer.error_code.value == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _value(client, topic, "retention.bytes") == ("77", 1)


@pytest.mark.parametrize("values", [("1", "2"), (None,)], ids=["twice", "no value"])
def test_a_wrong_replacement_changes_nothing(values: tuple[str | None, ...], topic: str, client: WireClient) -> None:
    _edit(client, topic, ("retention.bytes", 0, "77"))
    configs = [replace.request.AlterableConfig(name="retention.ms", value=value) for value in values]
    resource = replace.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=configs)
    (answer,) = client.call(33, 2, replace.Request(resources=[resource])).responses
    assert answer.error_code.value == INVALID_REQUEST
    assert _value(client, topic, "retention.bytes") == ("77", 1)


def test_a_group_shows_what_its_members_must_keep_to(client: WireClient) -> None:
    shown = {each.name: (each.value, each.read_only) for each in _describe(client, GROUP, "any").configs}
    assert shown["consumer.heartbeat.interval.ms"] == ("5000", False)
    assert shown["consumer.session.timeout.ms"] == ("45000", False)
    assert shown["share.delivery.count.limit"] == ("5", False)
    assert _describe(client, GROUP, "").error_code.value == INVALID_REQUEST


def test_topics_and_brokers_are_listed_as_what_has_configs(topic: str, client: WireClient) -> None:
    def listed(*types: int, version: int = 1) -> Any:
        return client.call(74, version, listing.Request(resource_types=list(types)))

    topics = {each.resource_name for each in listed(TOPIC).config_resources}
    assert topic in topics
    everything = {(each.resource_type, each.resource_name) for each in listed().config_resources}
    everything = {each for each in everything if each[0] != GROUP}
    assert everything == {(TOPIC, name) for name in topics} | {(BROKER, "1"), (BROKER, "2")}
    assert listed(GROUP, CLIENT_METRICS).config_resources == ()
    assert listed(version=0).config_resources == ()
    assert listed(3).error_code.value == UNSUPPORTED_VERSION


def test_brokers_cannot_be_configured_and_nothing_twice_in_one_request(topic: str, client: WireClient) -> None:
    configs = [edit.request.AlterableConfig(name="retention.ms", value="9")]
    resources = [
        edit.request.AlterConfigsResource(resource_type=kind, resource_name=each, configs=configs)
        for kind, each in [(BROKER, "1"), (TOPIC, topic), (TOPIC, topic), (GROUP, "")]
    ]
    answers = client.call(44, 1, edit.Request(resources=resources)).responses
    assert [each.error_code.value for each in answers] == [INVALID_REQUEST] * 4
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_a_changed_config_counts_for_the_next_batch_at_this_broker(topic: str, client: WireClient) -> None:
    assert client.produce(topic, batch([bytes(500)])).error_code.value == 0
    assert _edit(client, topic, ("max.message.bytes", 0, "300")) == 0
    assert client.produce(topic, batch([bytes(500)])).error_code.value == 10

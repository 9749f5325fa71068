"""Apache Kafka's own command-line tools, called by their main methods in one JVM."""

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from .clients.java import Java
from .conftest import NewTopic
from .samples import COUNT, LATEST_MS, STARTED_MS, STEP_MS, first_not_older, sample_records
from .visible import until_config, until_partitions

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"
PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CLUSTER = "org.apache.kafka.tools.ClusterTool"

Run = Callable[..., str]


@pytest.fixture
def run(java: Java, bootstrap: str) -> Run:
    """Runs a tool and answers with what it printed; the tool must exit as expected."""

    def call(main: str, *arguments: str, exit_code: int = 0) -> str:
        done = java.tool(main, "--bootstrap-server", bootstrap, *arguments)
        said = f"{done['out']}\n{done['errors']}"
        assert done["code"] == exit_code, f"{main} {' '.join(arguments)} exited with {done['code']}:\n{said}"
        return said

    return call


@pytest.fixture(scope="module")
def filled(java: Java, new_topic: NewTopic) -> str:
    """A topic with the sample in partition 0 and nothing in partition 1."""
    topic = new_topic(java, partitions=2)
    java.write(topic, 0, "zstd", sample_records(null_header_values=True))
    return topic


def test_kafka_topics_creates_lists_describes_alters_and_deletes(run: Run, java: Java) -> None:
    topic = f"tools-{uuid.uuid4().hex[:12]}"
    assert f"Created topic {topic}." in run(
        TOPICS, "--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=7200000"
    )
    until_partitions(java, topic, 2)
    assert topic in run(TOPICS, "--list").splitlines()
    described = run(TOPICS, "--describe", "--topic", topic)
    assert re.search(rf"Topic: {topic}\tTopicId: [\w-]{{22}}\tPartitionCount: 2\t", described)
    assert "retention.ms=7200000" in described
    assert re.findall(r"\tPartition: (\d+)\tLeader: (?:\d+)\t", described) == ["0", "1"]
    run(TOPICS, "--alter", "--topic", topic, "--partitions", "4")
    until_partitions(java, topic, 4)
    assert "PartitionCount: 4" in run(TOPICS, "--describe", "--topic", topic)
    run(TOPICS, "--delete", "--topic", topic)
    until_partitions(java, topic, 0)
    assert topic not in run(TOPICS, "--list").splitlines()


def test_kafka_topics_says_why_it_was_refused(run: Run, filled: str) -> None:
    assert "already exists" in run(TOPICS, "--create", "--topic", filled, exit_code=1)
    assert "does not exist" in run(TOPICS, "--describe", "--topic", "tools-never-created", exit_code=1)
    assert "no.such.config" in run(
        TOPICS, "--create", "--topic", "tools-refused", "--config", "no.such.config=1", exit_code=1
    )


def test_kafka_configs_describes_adds_and_deletes(run: Run, java: Java, new_topic: NewTopic) -> None:
    topic = new_topic(java, retention_ms="7200000")
    entity = ("--entity-type", "topics", "--entity-name", topic)
    assert "retention.ms=7200000" in run(CONFIGS, *entity, "--describe")
    everything = run(CONFIGS, *entity, "--describe", "--all")
    default_bytes = re.search(r"max\.message\.bytes=(\d+)", everything)
    assert default_bytes and "cleanup.policy=delete" in everything
    run(CONFIGS, *entity, "--alter", "--add-config", "max.message.bytes=20000,retention.bytes=1000000")
    until_config(java, topic, "max.message.bytes", "20000")
    described = run(CONFIGS, *entity, "--describe")
    assert "max.message.bytes=20000" in described and "retention.bytes=1000000" in described
    run(CONFIGS, *entity, "--alter", "--delete-config", "max.message.bytes,retention.ms")
    until_config(java, topic, "max.message.bytes", default_bytes[1])
    described = run(CONFIGS, *entity, "--describe")
    assert "retention.bytes=1000000" in described
    assert "max.message.bytes" not in described and "retention.ms" not in described


def test_kafka_configs_refuses_an_unknown_name_and_a_bad_value(run: Run, filled: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", filled)
    refused = run(CONFIGS, *entity, "--alter", "--add-config", "no.such.config=1", exit_code=1)
    assert "InvalidConfigurationException" in refused
    refused = run(CONFIGS, *entity, "--alter", "--add-config", "retention.ms=soon", exit_code=1)
    assert "InvalidConfigurationException" in refused


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("latest", {0: COUNT, 1: 0}),
        ("-1", {0: COUNT, 1: 0}),
        ("earliest", {0: 0, 1: 0}),
        ("-2", {0: 0, 1: 0}),
        ("max-timestamp", {0: COUNT - 60}),
        ("-3", {0: COUNT - 60}),
        pytest.param(str(STARTED_MS + 100 * STEP_MS), {0: 100}, id="time of a record"),
        pytest.param(str(STARTED_MS + 6 * STEP_MS + 1), {0: 8}, id="time between records"),
        pytest.param(str(LATEST_MS), {0: COUNT - 60}, id="latest time"),
        pytest.param(str(LATEST_MS + 1), {}, id="time after all records"),
    ],
)
def test_kafka_get_offsets(run: Run, filled: str, time: str, expected: dict[int, int]) -> None:
    """The tool leaves out partitions for which the broker knows no such offset."""
    said = run(OFFSETS, "--topic", filled, "--time", time)
    found = {int(partition): int(offset) for partition, offset in re.findall(rf"^{filled}:(\d+):(\d+)$", said, re.M)}
    assert found == expected


def test_the_expected_offsets_by_time_are_those_of_the_sample() -> None:
    records = sample_records(null_header_values=True)
    assert first_not_older(records, STARTED_MS + 6 * STEP_MS + 1) == 8
    assert max(range(COUNT), key=lambda at: records[at].timestamp_ms) == COUNT - 60


def test_kafka_log_dirs_describes_every_partition_with_its_size(run: Run, filled: str) -> None:
    said = run(LOG_DIRS, "--describe", "--topic-list", filled)
    report = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    dirs = [each for broker in report["brokers"] for each in broker["logDirs"]]
    assert dirs and all(each["error"] is None for each in dirs)
    sizes = {each["partition"]: each["size"] for one in dirs for each in one["partitions"]}
    assert set(sizes) == {f"{filled}-0", f"{filled}-1"}
    assert sizes[f"{filled}-0"] > 1000
    assert sizes[f"{filled}-1"] == 0


def test_kafka_producer_perf_test_sends_every_record(run: Run, java: Java, new_topic: NewTopic) -> None:
    topic = new_topic(java, partitions=3)
    said = run(
        PRODUCER_PERF,
        *("--topic", topic, "--num-records", "5000", "--record-size", "200", "--throughput", "-1"),
        *("--command-property", "acks=all", "compression.type=lz4"),
    )
    assert re.search(r"^5000 records sent, [\d.]+ records/sec", said, re.M)
    assert sum(java.bounds(topic, partition)[1] for partition in range(3)) == 5000


def test_kafka_delete_records_moves_the_beginning(run: Run, java: Java, new_topic: NewTopic, tmp_path: Path) -> None:
    topic = new_topic(java)
    java.write(topic, 0, "none", sample_records(null_header_values=True)[:10])
    wanted = tmp_path / "offsets.json"
    wanted.write_text(json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": 0, "offset": 4}]}))
    assert "low_watermark: 4" in run(DELETE_RECORDS, "--offset-json-file", str(wanted))
    assert java.bounds(topic, 0) == (4, 10)


def test_kafka_broker_api_versions_finds_the_core_apis_usable(run: Run) -> None:
    said = run(API_VERSIONS)
    ranges = {name: (int(low), int(high)) for name, low, high in re.findall(r"(\w+)\(\d+\): (\d+) to (\d+) ", said)}
    # Produce from 0: old librdkafka stops compressing where 0 is missing (KAFKA-18659).
    assert ranges["Produce"] == (0, 13)
    for api in ("Fetch", "ListOffsets", "Metadata", "CreateTopics", "InitProducerId", "DescribeConfigs"):
        assert api in ranges, f"{api} is not advertised"
    assert ranges["Fetch"][0] <= 4 and ranges["Fetch"][1] >= 16


def test_kafka_console_consumer_prints_a_partition_from_an_offset(run: Run, filled: str) -> None:
    said = run(
        CONSOLE_CONSUMER,
        *("--topic", filled, "--partition", "0", "--offset", "8", "--max-messages", "2", "--timeout-ms", "20000"),
    )
    records = sample_records(null_header_values=True)
    assert said.splitlines()[:2] == [(record.value or b"").decode() for record in records[8:10]]
    assert "Processed a total of 2 messages" in said


def test_kafka_cluster_prints_a_stable_id(java: Java, bootstrap: str) -> None:
    first, second = (java.tool(CLUSTER, "cluster-id", "--bootstrap-server", bootstrap)["out"] for _ in range(2))
    assert re.match(r"Cluster ID: \S+", first)
    assert first == second


def test_kafka_configs_sets_shows_and_removes_quotas(run: Run) -> None:
    entity = ("--entity-type", "users", "--entity-name", f"user-{uuid.uuid4().hex[:12]}")
    run(CONFIGS, *entity, "--alter", "--add-config", "producer_byte_rate=1048576,request_percentage=200")
    described = run(CONFIGS, *entity, "--describe")
    assert "producer_byte_rate=1048576.0" in described and "request_percentage=200.0" in described
    run(CONFIGS, *entity, "--alter", "--delete-config", "producer_byte_rate,request_percentage")
    assert "producer_byte_rate" not in run(CONFIGS, *entity, "--describe")

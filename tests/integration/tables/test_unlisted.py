"""`lakestream.table.enable=false`: the topic is compacted and verified all the same, and no engine finds its table."""

import json
from pathlib import Path

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from pyspark.sql import SparkSession

from lakestream.model.configs.topic_config import TABLE_ENABLE
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import consumed
from tests.integration.tables.stranger import check_verify

COUNT = 50


def enable(lake: RunningLake, topic: str, value: str) -> None:
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    entry = ConfigEntry(TABLE_ENABLE, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(timeout=30)


def test_a_topic_whose_table_is_not_shown_is_compacted_verified_and_shown_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    with running_lake(tmp_path) as lake:
        lake.create("quiet", 1, {TABLE_ENABLE: "false"})
        lake.produce("quiet", [b"%d" % at for at in range(COUNT)])
        lake.compact()
        (topic,) = lake.json("status")["topics"]
        assert (topic["table"]["table"], topic["table"]["listed"]) == ("streams.quiet", False)
        assert (topic["table"]["lag_records"], topic["table"]["files"]) == (0, 1)
        assert "streams.quiet (not listed)" in lake.command("status").stdout
        assert lake.command("sql", "SELECT 1 FROM quiet").returncode == 1
        assert lake.json("sql", "SHOW TABLES") == []
        assert len(consumed(lake.kafka, "quiet", partitions=1, count=COUNT)) == COUNT, "from the table's file"
        check_verify(lake, "quiet")

        enable(lake, "quiet", "true")
        shown = lake.command("sql", "SELECT count(*) AS n FROM quiet", "--json")
        assert json.loads(shown.stdout) == [{"n": COUNT}]

"""A topic that waives exact replay: it is told so, gets the same content back, and `verify` says what it compared."""

import json
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from tests.integration.tables.lake import running_lake
from tests.integration.up_process import command

VALUES = [b'{"a":  1}', b'{"a": 2, "b": 5e-1}', b'{"a": 3, "b": 0.12345678901234567890123}']


def test_a_topic_that_waives_exact_replay(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        config = ("-c", "lakestream.table.value=never")
        where = ("--kafka", lake.kafka)
        made = command("topic", "create", "loose", "--partitions", "1", *config, *where)
        assert made.returncode == 0
        assert "waives exact replay" in made.stderr
        assert "waives exact replay" in command("topic", "describe", "loose", *where).stdout
        lake.produce("loose", VALUES)
        lake.compact()
        assert lake.json("sql", "SELECT a, b, __value IS NULL AS bare FROM loose ORDER BY a") == [
            {"a": 1, "b": None, "bare": True},
            {"a": 2, "b": 0.5, "bare": True},
            {"a": 3, "b": 0.12345678901234568, "bare": False},
        ]
        consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "loose", "enable.auto.commit": False})
        consumer.assign([TopicPartition("loose", 0, 0)])
        found = [message.value() for message in consumer.consume(len(VALUES), timeout=20)]
        consumer.close()
        assert found == [VALUES[0], b'{"a":2,"b":0.5}', VALUES[2]]
        done = lake.command("verify", "loose", "--json")
        assert done.returncode == 0, done.stdout
        verdict = json.loads(done.stdout.splitlines()[-1])["topics"][0]
        assert (verdict["records"], verdict["restated_files"], verdict["problems"]) == (len(VALUES), 1, [])

"""Waiting until a change is seen: Apache Kafka answers an administrator before all of its metadata shows the change."""

import time

from .clients.client import Client

VISIBLE_S_MAX = 10


def until_partitions(client: Client, topic: str, count: int) -> None:
    """Waits until the client sees the topic with this many partitions; 0 means that it is gone."""
    deadline = time.monotonic() + VISIBLE_S_MAX
    while (seen := client.partition_count(topic)) != count:
        assert time.monotonic() < deadline, f"{client.name} sees {seen} partitions of {topic}, not {count}"
        time.sleep(0.05)


def until_config(client: Client, topic: str, name: str, value: str) -> None:
    deadline = time.monotonic() + VISIBLE_S_MAX
    while (seen := client.configs(topic)[name]) != value:
        assert time.monotonic() < deadline, f"{name} of {topic} is {seen}, not {value}"
        time.sleep(0.05)

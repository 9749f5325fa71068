"""A group member by confluent-kafka."""

import json
import sys
from typing import Any

import confluent_kafka as ck

from tests.compat.members.serving import POLL_SECONDS, serve

SECONDS_MAX = 10.0


class ConfluentMember:
    def __init__(self, options: dict[str, Any]) -> None:
        self._topic = options["topic"]
        self._records: list[tuple[int, int]] = []
        self._revoked: list[int] = []
        self._outcomes: list[Any] = []
        config = {
            "bootstrap.servers": options["bootstrap"],
            "group.id": options["group"],
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "on_commit": lambda error, _: self._outcomes.append(error),
        }
        if options["flavour"] == "consumer":
            config["group.protocol"] = "consumer"
        else:
            strategy = "cooperative-sticky" if options["flavour"] == "cooperative" else "range"
            config |= {"session.timeout.ms": options["session_ms"], "heartbeat.interval.ms": 300}
            config |= {"partition.assignment.strategy": strategy}
        if options["instance"]:
            config["group.instance.id"] = options["instance"]
        self._consumer = ck.Consumer(config)
        self._consumer.subscribe([self._topic], on_revoke=self._taken, on_lost=self._taken)

    def _taken(self, consumer: ck.Consumer, partitions: list[ck.TopicPartition]) -> None:
        self._revoked += [each.partition for each in partitions]

    def poll(self) -> None:
        for message in self._consumer.consume(100, POLL_SECONDS):
            if message.error() is None:
                self._records.append((message.partition(), message.offset()))

    def state(self) -> dict[str, Any]:
        assigned = sorted(each.partition for each in self._consumer.assignment())
        return {"assignment": assigned, "records": self._records, "revoked": self._revoked}

    def commit(self) -> None:
        self._consumer.commit(asynchronous=False)

    def commit_async(self) -> None:
        self._outcomes.clear()
        self._consumer.commit(asynchronous=True)
        while not self._outcomes:
            self.poll()
        if self._outcomes[0] is not None:
            raise ck.KafkaException(self._outcomes[0])

    def committed(self) -> dict[int, int]:
        found = self._consumer.committed(self._consumer.assignment(), SECONDS_MAX)
        return {each.partition: each.offset for each in found if each.offset >= 0}

    def seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(ck.TopicPartition(self._topic, partition, offset))

    def pause(self, partitions: list[int]) -> None:
        self._consumer.pause([ck.TopicPartition(self._topic, each) for each in partitions])

    def resume(self, partitions: list[int]) -> None:
        self._consumer.resume([ck.TopicPartition(self._topic, each) for each in partitions])

    def lag(self) -> dict[int, int]:
        positions = self._consumer.position(self._consumer.assignment())
        ends = {each.partition: self._consumer.get_watermark_offsets(each, SECONDS_MAX)[1] for each in positions}
        return {each.partition: ends[each.partition] - each.offset for each in positions}

    def close(self) -> None:
        self._consumer.close()


if __name__ == "__main__":
    serve(ConfluentMember(json.loads(sys.argv[1])))

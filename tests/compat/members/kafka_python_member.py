"""A group member by kafka-python."""

import json
import sys
import time
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.compat.members.serving import POLL_SECONDS, serve

SECONDS_MAX = 10.0


class KafkaPythonMember(ConsumerRebalanceListener):
    def __init__(self, options: dict[str, Any]) -> None:
        self._topic = options["topic"]
        self._records: list[tuple[int, int]] = []
        self._revoked: list[int] = []
        cooperative = options["flavour"] == "cooperative"
        self._consumer = KafkaConsumer(
            bootstrap_servers=options["bootstrap"],
            group_id=options["group"],
            group_instance_id=options["instance"],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=options["session_ms"],
            heartbeat_interval_ms=300,
            partition_assignment_strategy=[CooperativeStickyAssignor if cooperative else RangePartitionAssignor],
        )
        self._consumer.subscribe([self._topic], listener=self)

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._revoked += [each.partition for each in revoked]

    def on_partitions_assigned(self, assigned: Any) -> None:
        pass

    def poll(self) -> None:
        for messages in self._consumer.poll(timeout_ms=int(POLL_SECONDS * 1000)).values():
            self._records += [(message.partition, message.offset) for message in messages]

    def state(self) -> dict[str, Any]:
        assigned = sorted(each.partition for each in self._consumer.assignment())
        return {"assignment": assigned, "records": self._records, "revoked": self._revoked}

    def commit(self) -> None:
        self._consumer.commit()

    def commit_async(self) -> None:
        outcomes: list[Any] = []
        self._consumer.commit_async(callback=lambda _, outcome: outcomes.append(outcome))
        deadline = time.monotonic() + SECONDS_MAX
        while not outcomes and time.monotonic() < deadline:
            self.poll()
        if not outcomes or isinstance(outcomes[0], Exception):
            raise RuntimeError(f"the commit was not acknowledged: {outcomes}")

    def committed(self) -> dict[int, int]:
        found = {each.partition: self._consumer.committed(each) for each in self._consumer.assignment()}
        return {partition: offset for partition, offset in found.items() if offset is not None}

    def seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(TopicPartition(self._topic, partition), offset)

    def pause(self, partitions: list[int]) -> None:
        self._consumer.pause(*(TopicPartition(self._topic, each) for each in partitions))

    def resume(self, partitions: list[int]) -> None:
        self._consumer.resume(*(TopicPartition(self._topic, each) for each in partitions))

    def lag(self) -> dict[int, int]:
        ends = self._consumer.end_offsets(list(self._consumer.assignment()))
        return {each.partition: end - self._consumer.position(each) for each, end in ends.items()}

    def close(self) -> None:
        self._consumer.close(autocommit=False)


if __name__ == "__main__":
    serve(KafkaPythonMember(json.loads(sys.argv[1])))

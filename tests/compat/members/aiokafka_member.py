"""A group member by aiokafka. It lives while its loop runs, which is while it polls."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from tests.compat.members.serving import POLL_SECONDS, serve

T = TypeVar("T")


class AiokafkaMember(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, options: dict[str, Any]) -> None:
        self._topic = options["topic"]
        self._records: list[tuple[int, int]] = []
        self._revoked: list[int] = []
        self._runner = asyncio.Runner()
        self._consumer: Any = self._run(self._open(options))

    async def _open(self, options: dict[str, Any]) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=options["bootstrap"],
            group_id=options["group"],
            group_instance_id=options["instance"],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=options["session_ms"],
            heartbeat_interval_ms=300,
        )
        consumer.subscribe([self._topic], listener=self)
        await consumer.start()
        return consumer

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def _in_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        """Some calls that do not wait still look for the running loop."""
        call(*arguments)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self._revoked += [each.partition for each in revoked]

    async def on_partitions_assigned(self, assigned: Any) -> None:
        pass

    def poll(self) -> None:
        for messages in self._run(self._consumer.getmany(timeout_ms=int(POLL_SECONDS * 1000))).values():
            self._records += [(message.partition, message.offset) for message in messages]

    def state(self) -> dict[str, Any]:
        assigned = sorted(each.partition for each in self._consumer.assignment())
        return {"assignment": assigned, "records": self._records, "revoked": self._revoked}

    def commit(self) -> None:
        self._run(self._consumer.commit())

    def commit_async(self) -> None:
        self._run(self._committed_beside_a_poll())

    async def _committed_beside_a_poll(self) -> None:
        committing = asyncio.create_task(self._consumer.commit())
        await self._consumer.getmany(timeout_ms=0)
        await committing

    def committed(self) -> dict[int, int]:
        found = {each.partition: self._run(self._consumer.committed(each)) for each in self._consumer.assignment()}
        return {partition: offset for partition, offset in found.items() if offset is not None}

    def seek(self, partition: int, offset: int) -> None:
        self._run(self._in_loop(self._consumer.seek, TopicPartition(self._topic, partition), offset))

    def pause(self, partitions: list[int]) -> None:
        self._run(self._in_loop(self._consumer.pause, *(TopicPartition(self._topic, each) for each in partitions)))

    def resume(self, partitions: list[int]) -> None:
        self._run(self._in_loop(self._consumer.resume, *(TopicPartition(self._topic, each) for each in partitions)))

    def lag(self) -> dict[int, int]:
        assigned = list(self._consumer.assignment())
        ends = self._run(self._consumer.end_offsets(assigned))
        return {each.partition: ends[each] - self._run(self._consumer.position(each)) for each in assigned}

    def close(self) -> None:
        self._run(self._consumer.stop())


if __name__ == "__main__":
    serve(AiokafkaMember(json.loads(sys.argv[1])))

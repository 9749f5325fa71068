"""DescribeLogDirs (35), versions 1-4: how many bytes each partition has.

- There are no disks: each broker shows one directory, `lakestream`, which stands for the object store they share.
- Only the broker that is the partition's named leader shows it, so that sums over brokers are right. Bytes are those of
  its batches in the log, as produced.
- The size and free space of an object store are unknown (-1).

v2 flexible. v3 an error code for the whole. v4 total and usable bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakestream.broker.broker import Broker
from lakestream.broker.directory import TopicEntry
from lakestream.broker.leaders import leader_ids
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.topic import PartitionId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.wire.generated import describe_log_dirs
from lakestream.world.turns import in_turns

LOG_DIR = "lakestream"


async def handle(request: describe_log_dirs.Request, context: RequestContext) -> describe_log_dirs.Response:
    broker = context.broker
    await broker.directory.refresh()
    shown = {
        entry.topic.name: list(_own_partitions(entry, wanted, broker))
        async for entry, wanted in in_turns(_asked(request, broker).values())
    }
    sizes = await broker.store.tails([partition for own in shown.values() for _, partition in own])
    return describe_log_dirs.Response(
        results=[
            describe_log_dirs.DescribeLogDirsResult(
                log_dir=LOG_DIR,
                topics=[
                    describe_log_dirs.DescribeLogDirsTopic(
                        name=name,
                        partitions=[
                            describe_log_dirs.DescribeLogDirsPartition(
                                partition_index=index, partition_size=sizes[partition].bytes
                            )
                            for index, partition in own
                            if partition in sizes
                        ],
                    )
                    for name, own in shown.items()
                    if own
                ],
            )
        ]
    )


def _asked(request: describe_log_dirs.Request, broker: Broker) -> dict[str, tuple[TopicEntry, set[int] | None]]:
    """The requested partitions by topic name (None: all). Topics that do not exist are left out, as Kafka does. Of a
    topic that is named twice, the last one counts."""
    if request.topics is None:
        return {entry.topic.name: (entry, None) for entry in broker.directory.all()}
    known = ((broker.directory.known(topic.topic), topic) for topic in request.topics)
    return {topic.topic: (entry, set(topic.partitions)) for entry, topic in known if entry is not None}


def _own_partitions(entry: TopicEntry, wanted: set[int] | None, broker: Broker) -> Iterator[tuple[int, PartitionId]]:
    partitions = entry.topic.partitions
    brokers = tuple(each.id for each in broker.cluster.live())
    for index, leader in enumerate(leader_ids(entry.topic.id, len(partitions), brokers)):
        if leader == broker.cluster.spec.id and (wanted is None or index in wanted):
            yield index, partitions[index]


def error_response(
    request: describe_log_dirs.Request, context: RequestContext, code: int, message: str
) -> describe_log_dirs.Response:
    return describe_log_dirs.Response(error_code=code)


API = Api(
    key=35,
    name="DescribeLogDirs",
    versions=(1, 4),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)

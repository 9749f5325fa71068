"""/admin/status: the cluster at a glance, as JSON: brokers, topics, their offsets and bytes, their tables, the WAL.

All offsets come from one read of the metadata store, so they belong together. Records that brokers could not read
lately are shown with their topic (`lost`); `?check_files=true` also looks whether all files of the tables are there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.broker.losses import Loss
from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import PartitionId, Topic
from lakestream.protocol.rest.brokers import Brokers
from lakestream.protocol.rest.missing_files import MissingFiles
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.protocol.rest.table_status import TableStatus

CHECK_FILES = "check_files"


def admin_routes(
    store: MetadataStore, brokers: Brokers, tables: TableStatus, missing: MissingFiles
) -> list[AccessRoute]:
    async def status(request: Request) -> Response:
        checked = missing if request.query_params.get(CHECK_FILES, "").lower() == "true" else None
        try:
            return JSONResponse(await cluster_status(store, brokers, tables, checked))
        except LakestreamError as error:
            return JSONResponse({"error": str(error)}, status_code=503)

    needs = (
        Need(Operation.DESCRIBE, ResourceType.CLUSTER),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
    )
    return [AccessRoute("/admin/status", status, needs=needs)]


async def cluster_status(
    store: MetadataStore, brokers: Brokers, tables: TableStatus, missing: MissingFiles | None = None
) -> dict[str, Any]:
    """`missing` is asked, where it is given."""
    live = await brokers.live()
    readiness = await brokers.readiness(live)
    topics = sorted((await store.topics()).topics, key=lambda topic: topic.name)
    sizes = await store.tails([partition for topic in topics for partition in topic.partitions])
    # After the tails: whatever is in the WAL by now lay at or above `tabled_until` then.
    wal_starts = await tables.starts(topics)
    table_of = await tables.of_topics(topics, sizes)
    losses = await brokers.losses(live)
    files = {} if missing is None else await missing.of_topics(topics)
    return {
        "cluster_id": await store.cluster_id(),
        "metadata": store.url.partition("://")[0],
        "brokers": [
            {"id": b.id, "host": b.host, "port": b.port, "rack": b.rack, "http": b.http, "state": readiness[b.id]}
            for b in live
        ],
        "pipeline": await store.jobs.compaction_holder(),
        "wal": await tables.wal(),
        "topics": [
            {
                **_topic_status(topic, sizes, wal_starts),
                "table": table_of[topic.id],
                "lost": _lost(topic, losses),
                **({"missing_files": files[topic.id]} if topic.id in files else {}),
            }
            for topic in topics
        ],
    }


def _lost(topic: Topic, losses: Iterable[Loss]) -> list[dict[str, Any]]:
    """Where brokers met records of the topic that cannot be read."""
    numbers = {partition: number for number, partition in enumerate(topic.partitions)}
    return [
        {"partition": numbers[loss.partition], "offset": loss.offset, "problem": loss.problem}
        for loss in losses
        if loss.partition in numbers
    ]


def _topic_status(
    topic: Topic, sizes: Mapping[PartitionId, PartitionSize], wal_starts: Mapping[PartitionId, int]
) -> dict[str, Any]:
    partitions: list[dict[str, Any]] = [
        {
            "partition": index,
            "log_start": sizes[partition].tail.log_start,
            "next_offset": sizes[partition].tail.next_offset,
            "tabled_until": sizes[partition].tail.tabled_until,
            "wal_start": wal_starts.get(partition),
            "bytes": sizes[partition].bytes,
        }
        for index, partition in enumerate(topic.partitions)
        if partition in sizes  # deleted between the two reads otherwise
    ]
    return {
        "name": topic.name,
        "id": topic.id.hex(),
        "config": dict(topic.config),
        "records": sum(part["next_offset"] - part["log_start"] for part in partitions),
        "bytes": sum(part["bytes"] for part in partitions),
        "partitions": partitions,
    }

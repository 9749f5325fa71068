"""/admin/status: the cluster at a glance, as JSON: brokers, topics, their offsets and bytes, their tables, the WAL,
and transactions that are open for too long.

Records that brokers could not read lately are shown with their topic (`lost`). `?check_files=true` also checks that all
files of the tables exist.
"""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.overview import ClusterStatus, Overview, PartitionStatus, TopicStatus
from lakestream.administration.processes import BrokerStatus
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.protocol.rest.access.rights import Rights, rights_of
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.health import state_of
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.protocol.rest.table_status import table_json
from lakestream.protocol.rest.transactions import transaction_json

CHECK_FILES = "check_files"


def admin_routes(overview: Overview) -> list[AccessRoute]:
    async def status(request: Request) -> Response:
        check_files = request.query_params.get(CHECK_FILES, "").lower() == "true"
        return await answered(_status(overview, rights_of(request), check_files=check_files))

    needs = (
        Need(Operation.DESCRIBE, ResourceType.CLUSTER),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
    )
    return [AccessRoute("/admin/status", status, needs=needs)]


async def _status(overview: Overview, rights: Rights, *, check_files: bool) -> dict[str, Any]:
    return _cluster_json(await overview.status(check_files=check_files), rights)


def _cluster_json(status: ClusterStatus, rights: Rights) -> dict[str, Any]:
    return {
        "cluster_id": status.cluster_id,
        "metadata": status.metadata,
        "brokers": [_broker_json(broker) for broker in status.brokers],
        "pipeline": status.pipeline.name,
        "no_pipeline": status.pipeline.ruled_out,
        "pipeline_problem": status.pipeline.problem,
        "wal": asdict(status.wal),
        "flushes": [asdict(cost) for cost in status.flush_costs],
        "topics": [
            topic_json(topic)
            for topic in status.topics
            if rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, topic.topic.name))
        ],
        "stuck_transactions": [transaction_json(one) for one in status.stuck_transactions],
    }


def _broker_json(status: BrokerStatus) -> dict[str, Any]:
    broker = status.broker
    return {
        "id": broker.id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "http": broker.http,
        "state": state_of(status.problem),
    }


def topic_json(status: TopicStatus) -> dict[str, Any]:
    return {
        "name": status.topic.name,
        "id": status.topic.id.hex(),
        "config": dict(status.topic.config),
        "profile": typed_topic_config(status.topic.config).profile,
        "records": status.records,
        "bytes": status.bytes,
        "partitions": [_partition_json(partition) for partition in status.partitions],
        "table": table_json(status.table),
        "lost": [asdict(lost) for lost in status.lost],
        **({} if status.missing_files is None else {"missing_files": status.missing_files}),
    }


def _partition_json(status: PartitionStatus) -> dict[str, Any]:
    return {
        "partition": status.number,
        **status.tail._asdict(),
        "wal_start": status.wal_start,
        "bytes": status.bytes,
    }

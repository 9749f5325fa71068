"""Verifies topics on Spark for `lakestream verify`: one session, one topic after another, with progress.

Importing this module loads Spark, so only a `verify` that has tables to compare does.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from lakestream.cli.client.gateway_client import CATALOG_PATH, STATUS_PATH, UNLISTED, ask_gateway
from lakestream.cli.client.kafka_batches import TopicBatches
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.java_trust import trust_in_java
from lakestream.cli.output import say
from lakestream.cli.service import Gateway
from lakestream.model.errors import LakestreamError
from lakestream.model.job import AppendedSpan
from lakestream.settings.model import Settings
from lakestream.table.spark.lake_session import lake_session
from lakestream.table.spark.remote_files import remote_files
from lakestream.table.verify.appended import AppendedStretches
from lakestream.table.verify.verification import PartitionState, TopicToVerify, verify_topic


def verify_on_spark(
    gateway: Gateway, client: KafkaClient, topics: Sequence[Any], settings: Settings
) -> dict[str, dict[str, Any]]:
    """The verdict on each topic, by its name. `topics` are those of /admin/status that have a table."""
    verdicts: dict[str, dict[str, Any]] = {}
    records = sum(max(0, part["tabled_until"] - part["log_start"]) for one in topics for part in one["partitions"])
    if gateway.ca is not None:
        trust_in_java(gateway.ca)
    with _progress() as shown:
        task = shown.add_task("starting Spark", total=None)
        with lake_session(
            f"{gateway.url}{CATALOG_PATH}",
            name="lakestream-verify",
            master=settings.spark.master,
            conf=settings.spark.conf,
            files=remote_files(settings.objects_url, settings.objects_options),
            headers={**UNLISTED, **gateway.headers},
        ) as spark:
            shown.update(task, total=records)
            for number, topic in enumerate(topics, start=1):
                said = f"verifying {topic['name']}, topic {number} of {len(topics)}"
                shown.update(task, description=said)
                if shown.disable:
                    say(f"{said} ...")
                try:
                    asked = _to_verify(gateway, client, topic, settings.objects_options)
                    found = verify_topic(spark, asked, lambda done: shown.advance(task, done))
                except LakestreamError as error:  # one damaged table hides none of the others
                    verdicts[topic["name"]] = _unverified(topic, str(error))
                else:
                    verdicts[topic["name"]] = asdict(found)
    return verdicts


def _progress() -> Progress:
    """With a clock that goes on while Spark says nothing."""
    columns = (SpinnerColumn(), *Progress.get_default_columns(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True)


def _to_verify(gateway: Gateway, client: KafkaClient, topic: Any, options: Mapping[str, str]) -> TopicToVerify:
    namespace, _, name = topic["table"]["table"].rpartition(".")
    levels = quote("\x1f".join(namespace.split(".")))
    loaded = ask_gateway(gateway, f"{CATALOG_PATH}/v1/namespaces/{levels}/tables/{quote(name)}__log", headers=UNLISTED)

    # After the metadata: the files of all its appends are among these.
    inserted = ask_gateway(gateway, f"/admin/topics/{topic['id']}/appended")

    def now() -> Mapping[int, PartitionState]:
        found = [one for one in ask_gateway(gateway, STATUS_PATH)["topics"] if one["id"] == topic["id"]]
        return _partitions(found[0]) if found else {}

    return TopicToVerify(
        name=topic["name"],
        table=topic["table"]["table"],
        metadata=loaded["metadata"],
        metadata_location=loaded["metadata-location"],
        partitions=_partitions(topic),
        source=TopicBatches(client, topic["name"]),
        now=now,
        objects_options=options,
        appended=AppendedStretches(spans=[AppendedSpan(**span) for span in inserted["appended"]]),
    )


def _partitions(topic: Any) -> dict[int, PartitionState]:
    return {
        part["partition"]: PartitionState(part["log_start"], part["tabled_until"], part["wal_start"])
        for part in topic["partitions"]
    }


def _unverified(topic: Any, reason: str) -> dict[str, Any]:
    problems = [f"the table could not be looked at, and nothing was compared: {reason}"]
    return {
        "topic": topic["name"],
        "table": topic["table"]["table"],
        "partitions": len(topic["partitions"]),
        "problems": problems,
    }

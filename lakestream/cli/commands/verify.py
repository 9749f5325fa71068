"""lakestream verify: proof from outside that topics and their tables hold the same records. Exits 1 if they do not.

The topic is read through Kafka, the table through the catalog by a stock Spark, the objects in their store.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.progress import Progress

from lakestream.cli.client.gateway_client import UNLISTED, ask_gateway
from lakestream.cli.client.kafka_batches import TopicBatches
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AsJson, Config, Http, Kafka, SetValues, http_address, kafka_address, loaded_settings
from lakestream.cli.output import print_json, print_table, say
from lakestream.model.configs.value_configs import TABLE_VALUE
from lakestream.model.errors import LakestreamError
from lakestream.settings.address import Address
from lakestream.settings.model import Settings

STATUS_PATH = "/admin/status"
CATALOG_PATH = "/iceberg"
FAILED = 1
_SESSION = "lakestream.table.spark.lake_session"
_REMOTE_FILES = "lakestream.table.spark.remote_files"
_VERIFICATION = "lakestream.table.verify.verification"


def verify(
    topics: Annotated[list[str] | None, typer.Argument(help="The topics. Default: all.", show_default=False)] = None,
    kafka: Kafka = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Prove that topics and their tables hold the same records."""
    gateway = http_address(config, values, http)
    settings = loaded_settings(config, values).settings
    status = ask_gateway(gateway, STATUS_PATH)
    chosen = _chosen(status, topics or [])
    with KafkaClient.connect(kafka_address(config, values, kafka)) as client:
        verdicts = _verify_all(gateway, client, chosen, settings)
    overdue = status["wal"]["overdue_segments"]
    found = {
        "verified": not overdue and not any(verdict["problems"] for verdict in verdicts),
        "overdue_segments": overdue,
        "topics": verdicts,
    }
    if as_json:
        print_json(found)
    else:
        _print(found, status["wal"]["grace_ms"])
    if not found["verified"]:
        raise typer.Exit(FAILED)


def _chosen(status: Any, names: Sequence[str]) -> list[Any]:
    known = {topic["name"]: topic for topic in status["topics"]}
    if unknown := [name for name in names if name not in known]:
        raise CommandFailed(f"no topic is called '{unknown[0]}': `lakestream topic list` shows those that exist")
    return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())


def _verify_all(
    gateway: Address, client: KafkaClient, topics: Sequence[Any], settings: Settings
) -> list[dict[str, Any]]:
    tabled = [topic for topic in topics if topic["table"]["table"] is not None]
    verdicts = {topic["name"]: _without_table(topic) for topic in topics}
    if not tabled:
        return list(verdicts.values())
    say("starting Spark, which takes ten seconds ...")
    session = importlib.import_module(_SESSION).lake_session
    verification = importlib.import_module(_VERIFICATION)
    files = importlib.import_module(_REMOTE_FILES).remote_files(settings.objects_url, settings.objects_options)
    records = sum(max(0, part["tabled_until"] - part["log_start"]) for one in tabled for part in one["partitions"])
    with (
        session(
            f"http://{gateway}{CATALOG_PATH}",
            name="lakestream-verify",
            master=settings.spark.master,
            files=files,
            headers=UNLISTED,
        ) as spark,
        Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as shown,
    ):
        task = shown.add_task("verifying", total=records)
        for topic in tabled:
            shown.update(task, description=f"verifying {topic['name']}")
            try:
                asked = _to_verify(verification, gateway, client, topic, settings.objects_options)
                found = verification.verify_topic(spark, asked, lambda done: shown.advance(task, done))
            except LakestreamError as error:  # one damaged table hides none of the others
                verdicts[topic["name"]] = _unverified(topic, str(error))
            else:
                verdicts[topic["name"]] = asdict(found)
    return list(verdicts.values())


def _to_verify(verification: Any, gateway: Address, client: KafkaClient, topic: Any, options: Mapping[str, str]) -> Any:
    namespace, _, name = topic["table"]["table"].rpartition(".")
    levels = quote("\x1f".join(namespace.split(".")))
    loaded = ask_gateway(gateway, f"{CATALOG_PATH}/v1/namespaces/{levels}/tables/{quote(name)}__log", headers=UNLISTED)

    def now() -> Mapping[int, Any]:
        found = [one for one in ask_gateway(gateway, STATUS_PATH)["topics"] if one["id"] == topic["id"]]
        return _partitions(verification, found[0]) if found else {}

    return verification.TopicToVerify(
        name=topic["name"],
        table=topic["table"]["table"],
        metadata=loaded["metadata"],
        metadata_location=loaded["metadata-location"],
        partitions=_partitions(verification, topic),
        source=TopicBatches(client, topic["name"]),
        now=now,
        objects_options=options,
    )


def _partitions(verification: Any, topic: Any) -> dict[int, Any]:
    return {
        part["partition"]: verification.PartitionState(part["log_start"], part["tabled_until"], part["wal_start"])
        for part in topic["partitions"]
    }


def _without_table(topic: Any) -> dict[str, Any]:
    """Nothing is compared; nothing may be tabled then."""
    lost = [part["partition"] for part in topic["partitions"] if part["tabled_until"] > part["log_start"]]
    problems = [f"partition {number} has records in a table, but the topic has none" for number in lost]
    return {"topic": topic["name"], "table": None, "partitions": len(topic["partitions"]), "problems": problems}


def _unverified(topic: Any, reason: str) -> dict[str, Any]:
    problems = [f"the table could not be looked at, and nothing was compared: {reason}"]
    return {
        "topic": topic["name"],
        "table": topic["table"]["table"],
        "partitions": len(topic["partitions"]),
        "problems": problems,
    }


def _print(found: Any, grace_ms: int) -> None:
    columns = ["topic", "table", ">partitions", ">records", ">rows", ">files", ">objects", ">ledgers", "verdict"]
    print_table(columns, [_row(verdict) for verdict in found["topics"]])
    for verdict in found["topics"]:
        for problem in verdict["problems"]:
            print(f"{verdict['topic']}: {problem}")
        if restated := verdict.get("restated_files"):
            print(
                f"{verdict['topic']}: values of {restated} files were compared as consumers get them, not as they were "
                f"produced: {TABLE_VALUE}=never waived exact replay"
            )
    for segment in found["overdue_segments"]:
        print(f"WAL segment {segment} holds nothing that is needed, and is past its grace of {grace_ms / 1000:g} s")


def _row(verdict: Mapping[str, Any]) -> tuple[object, ...]:
    counts = [verdict.get(name) for name in ("records", "rows", "files", "objects", "ledgers")]
    problems = len(verdict["problems"])
    said = f"{problems} problems" if problems else "same" if verdict["table"] else "no table yet"
    return (verdict["topic"], verdict["table"], verdict["partitions"], *counts, said)

"""lakestream verify: proves from outside that topics and their tables hold the same records. Exits 1 if they do not.

It reads the topic through Kafka, the table through the catalog with a stock Spark, and the objects in their store.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from lakestream.cli.client.gateway_client import STATUS_PATH, ask_gateway
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AsJson, Config, Http, Kafka, SetValues, brokers_at, gateway_at, loaded_settings
from lakestream.cli.output import print_json, print_table, say
from lakestream.cli.service import Gateway
from lakestream.model.configs.value_configs import TABLE_VALUE
from lakestream.settings.model import Settings

FAILED = 1


def verify(
    topics: Annotated[list[str] | None, typer.Argument(help="The topics. Default: all.", show_default=False)] = None,
    kafka: Kafka = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Prove that topics and their tables hold the same records."""
    gateway = gateway_at(config, values, http)
    settings = loaded_settings(config, values).settings
    status = ask_gateway(gateway, STATUS_PATH)
    chosen = _chosen(status, topics or [])
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
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
    gateway: Gateway, client: KafkaClient, topics: Sequence[Any], settings: Settings
) -> list[dict[str, Any]]:
    tabled = [topic for topic in topics if topic["table"]["table"] is not None]
    verdicts = {topic["name"]: _without_table(topic) for topic in topics}
    if tabled:
        say("starting Spark, which takes ten seconds ...")
        from lakestream.cli.engines.spark_verify import verify_on_spark

        verdicts |= verify_on_spark(gateway, client, tabled, settings)
    return list(verdicts.values())


def _without_table(topic: Any) -> dict[str, Any]:
    """Nothing to compare: such a topic must have no records marked as being in the table."""
    lost = [part["partition"] for part in topic["partitions"] if part["tabled_until"] > part["log_start"]]
    problems = [f"partition {number} has records in a table, but the topic has none" for number in lost]
    return {"topic": topic["name"], "table": None, "partitions": len(topic["partitions"]), "problems": problems}


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

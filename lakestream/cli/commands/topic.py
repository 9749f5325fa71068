"""lakestream topic: create, list, describe, alter, delete."""

from enum import StrEnum
from typing import Annotated

import typer

from lakestream.cli.client import kafka_admin
from lakestream.cli.client.gateway_client import TOPICS_PATH, ask_gateway
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.client.topic_table import table_of_topic
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, Http, Kafka, SetValues, brokers_at, gateway_at, pair
from lakestream.cli.output import print_json, print_table, say
from lakestream.model.configs.profile import DEFAULT_PROFILE, PROFILE, Profile
from lakestream.model.configs.topic_config import drops_its_table
from lakestream.model.configs.value_configs import VALUE_FORMAT, waiver
from lakestream.model.configs.without_effect import NO_EFFECT

app = typer.Typer(no_args_is_help=True, help="Create, list, describe, alter and delete topics.")


class DeclaredFormat(StrEnum):
    """Formats of values that carry declared columns."""

    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"


Name = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's name.")]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--topic-config", "-c", metavar="NAME=VALUE", help="A topic config. May be repeated.", show_default=False
    ),
]


@app.command()
def create(
    name: Name,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="How many partitions.", show_default="the broker's")
    ] = None,
    profile: Annotated[
        Profile | None,
        typer.Option(
            help="How soon records are durable, and at what cost: fast or diskless.", show_default=DEFAULT_PROFILE.value
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Declared columns, as in CREATE TABLE: 'id bigint, sku string, tags array<string>'.",
            show_default=False,
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="NAMESPACE.TABLE", help="Declare the columns of this table.", show_default=False),
    ] = None,
    format: Annotated[
        DeclaredFormat | None,
        typer.Option(help="The format of values with declared columns.", show_default=DeclaredFormat.JSON.value),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with the keys of inserted rows.", show_default=False),
    ] = None,
    configs: Configs = None,
    kafka: Kafka = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Create a topic, with declared columns or without."""
    given = dict(map(pair, configs or []))
    for option, set_by_it, value in (("--profile", PROFILE, profile), ("--format", VALUE_FORMAT, format)):
        if value is not None:
            if given.get(set_by_it, value) != value:
                raise WrongUse(f"{option} says {value} and --topic-config says {given[set_by_it]}: choose one")
            given[set_by_it] = value.value
    if columns is not None or like is not None:
        body = {"name": name, "columns": columns, "like": like, "key": key, "partitions": partitions, "config": given}
        done = ask_gateway(gateway_at(config, values, http), TOPICS_PATH, body)
        _done(as_json, topic=name, done="created")
        for sentence in [] if as_json else done["consequences"]:
            say(sentence)
        return
    if key is not None or format is not None:
        raise WrongUse("--key and --format are for topics with declared columns: give --columns or --like")
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        kafka_admin.create_topic(client, name, partitions, given)
    _say_what_is_waived(given)
    _done(as_json, topic=name, done="created")


@app.command("list")
def list_(kafka: Kafka = None, as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """List topics."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        topics = kafka_admin.list_topics(client)
    if as_json:
        print_json([{"topic": name, "partitions": count} for name, count in topics.items()])
    else:
        print_table(["topic", ">partitions"], list(topics.items()))


@app.command()
def describe(
    name: Name,
    kafka: Kafka = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Show a topic's table, partitions and configs."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        table = table_of_topic(gateway_at(config, values, http), kafka_admin.topic_id(client, name))
        partitions = kafka_admin.describe_partitions(client, name)
        entries = kafka_admin.describe_config(client, name)
    if table.problem is not None:
        say(f"its table is not known: {table.problem}")
    if as_json:
        print_json(
            {
                "topic": name,
                "table": table.name,
                "partitions": [
                    {"partition": p.index, "leader": p.leader, "log_start": p.log_start, "next_offset": p.next_offset}
                    for p in partitions
                ],
                "config": {
                    entry.name: {"value": entry.value, "set": entry.is_set, "meaning": entry.meaning}
                    for entry in entries
                },
            }
        )
        return
    print_table(
        [">partition", ">leader", ">log start", ">next offset"],
        [(p.index, p.leader, p.log_start, p.next_offset) for p in partitions],
        title=f"topic {name}, {table.shown}",
    )
    print()
    print_table(["config", "value", ""], [(entry.name, entry.value, _standing(entry)) for entry in entries])


@app.command()
def alter(
    name: Name,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Grow to so many partitions.", show_default=False)
    ] = None,
    configs: Configs = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="NAME", help="Take a config back to its default.", show_default=False),
    ] = None,
    kafka: Kafka = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Change a topic's configs, or grow it."""
    given = dict(map(pair, configs or []))
    if both := [each for each in unset or [] if each in given]:
        raise WrongUse(f"'{both[0]}' is given by --topic-config and by --unset: choose one")
    changes: dict[str, str | None] = {**given, **dict.fromkeys(unset or [])}
    if not changes and partitions is None:
        raise WrongUse("nothing to change: give --partitions, --topic-config or --unset")
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        if changes:
            kafka_admin.alter_config(client, name, changes)
        if partitions is not None:
            kafka_admin.add_partitions(client, name, partitions)
    _say_what_is_waived(given)
    _done(as_json, topic=name, done="altered")


@app.command()
def delete(
    name: Name,
    kafka: Kafka = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Delete a topic and its records. Its table stays, unless lakestream.table.on-topic-delete says otherwise."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        table = table_of_topic(gateway_at(config, values, http), kafka_admin.topic_id(client, name))
        entries = kafka_admin.describe_config(client, name)
        kafka_admin.delete_topic(client, name)
    _done(as_json, topic=name, done="deleted")
    dropped = drops_its_table({entry.name: entry.value or "" for entry in entries})
    if (left := table.becomes(dropped=dropped)) is not None:
        say(left)


def _standing(entry: kafka_admin.TopicConfigEntry) -> str:
    where = "set on the topic" if entry.is_set else "default"
    if waiver({entry.name: entry.value or ""}):
        return f"{where}; waives exact replay"
    return f"{where}; no effect" if entry.meaning.startswith(NO_EFFECT) else where


def _say_what_is_waived(configs: dict[str, str]) -> None:
    if (waived := waiver(configs)) is not None:
        say(f"note: {waived}")


def _done(as_json: bool, *, topic: str, done: str) -> None:
    if as_json:
        print_json({"topic": topic, "done": done})
    else:
        print(f"topic {topic} {done}")

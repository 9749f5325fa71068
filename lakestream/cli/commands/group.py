"""lakestream group: list, describe, reset, delete."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

import typer

from lakestream.cli.client import kafka_groups
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.client.kafka_groups import GroupMember, Partition
from lakestream.cli.client.kafka_log import EARLIEST, LATEST, offsets, partition_count
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, Kafka, SetValues, brokers_at
from lakestream.cli.output import print_json, print_table, say

app = typer.Typer(no_args_is_help=True, help="List, describe, reset and delete consumer groups.")

Name = Annotated[str, typer.Argument(metavar="GROUP", help="The group's name.")]


@app.command("list")
def list_(kafka: Kafka = None, as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """List groups."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        groups = kafka_groups.list_groups(client)
    if as_json:
        print_json([{"group": line.group, "type": line.type, "state": line.state} for line in groups])
    else:
        print_table(["group", "type", "state"], [(line.group, line.type, line.state) for line in groups])


@app.command()
def describe(
    name: Name, kafka: Kafka = None, as_json: AsJson = False, config: Config = None, values: SetValues = None
) -> None:
    """Show a group's members, offsets and lag."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        with kafka_groups.coordinator(client, name) as own:
            facts = kafka_groups.describe_group(own, name)
            committed = kafka_groups.committed_offsets(own, name)
        readers = _readers(facts.members)
        partitions = sorted(committed.keys() | readers.keys())
        ends = _ends(client, partitions)
    rows = [
        {
            "topic": topic,
            "partition": number,
            "offset": committed.get((topic, number)),
            "end": ends[topic, number],
            "lag": ends[topic, number] - committed[topic, number] if (topic, number) in committed else None,
            "member": readers[topic, number].member_id if (topic, number) in readers else None,
            "client": readers[topic, number].client if (topic, number) in readers else None,
        }
        for topic, number in partitions
    ]
    if as_json:
        members = [{"member": each.member_id, "client": each.client} for each in facts.members]
        print_json({"group": name, "type": facts.type, "state": facts.state, "members": members, "partitions": rows})
        return
    print_table(
        ["topic", ">partition", ">offset", ">end", ">lag", "member", "client"],
        [list(row.values()) for row in rows],
        title=f"group {name}: {facts.type}, {facts.state}, {len(facts.members)} members",
    )


@app.command()
def reset(
    name: Name,
    topic: Annotated[str, typer.Option(help="The topic to read anew.")],
    to: Annotated[
        str,
        typer.Option(metavar="earliest|latest|OFFSET|TIME", help="Where to go on; a time as 2026-05-01T12:00:00Z."),
    ],
    partition: Annotated[
        list[int] | None, typer.Option(min=0, help="Only this partition. May be repeated.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the new offsets without setting them.")] = False,
    kafka: Kafka = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Set the offsets of a group without members."""
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        numbers = partition or list(range(partition_count(client, topic, create=False)))
        chosen = _targets(client, topic, numbers, to)
        if not dry_run:
            with kafka_groups.coordinator(client, name) as own:
                kafka_groups.commit_offsets(own, name, topic, chosen)
    _say_what_is_elsewhere(to, chosen)
    if as_json:
        print_json({"group": name, "topic": topic, "done": not dry_run, "offsets": chosen})
    else:
        title = f"group {name} would go on at" if dry_run else f"group {name} goes on at"
        print_table(["topic", ">partition", ">offset"], [(topic, *each) for each in chosen.items()], title=title)


@app.command()
def delete(
    name: Name, kafka: Kafka = None, as_json: AsJson = False, config: Config = None, values: SetValues = None
) -> None:
    """Delete a group without members, and its offsets."""
    with (
        KafkaClient.connect(brokers_at(config, values, kafka)) as client,
        kafka_groups.coordinator(client, name) as own,
    ):
        kafka_groups.delete_group(own, name)
    if as_json:
        print_json({"group": name, "done": "deleted"})
    else:
        print(f"group {name} deleted")


def _readers(members: tuple[GroupMember, ...]) -> dict[Partition, GroupMember]:
    return {partition: member for member in members for partition in member.partitions}


def _ends(client: KafkaClient, partitions: list[Partition]) -> dict[Partition, int]:
    ends: dict[Partition, int] = {}
    for topic in dict.fromkeys(topic for topic, _ in partitions):
        numbers = [number for name, number in partitions if name == topic]
        ends |= {(topic, number): end for number, end in offsets(client, topic, numbers, LATEST).items()}
    return ends


def _targets(client: KafkaClient, topic: str, numbers: list[int], to: str) -> dict[int, int]:
    """Offsets within the log: a consumer would have to jump at once from outside of it."""
    starts, ends = offsets(client, topic, numbers, EARLIEST), offsets(client, topic, numbers, LATEST)
    if to == "earliest":
        return starts
    if to == "latest":
        return ends
    if to.isdecimal():
        return {number: min(max(int(to), starts[number]), ends[number]) for number in numbers}
    found = offsets(client, topic, numbers, _milliseconds(to))
    return {number: ends[number] if offset < 0 else offset for number, offset in found.items()}


def _say_what_is_elsewhere(to: str, chosen: Mapping[int, int]) -> None:
    for number, offset in chosen.items():
        if to.isdecimal() and offset != int(to):
            side = "ends" if offset < int(to) else "begins"
            say(f"partition {number} {side} at offset {offset}: {offset} is taken instead of {to}")


def _milliseconds(text: str) -> int:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUse(f"--to '{text}': give earliest, latest, an offset, or a time as 2026-05-01T12:00:00Z") from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)

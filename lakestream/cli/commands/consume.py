"""lakestream consume: prints records as lines.

lakestream consume greetings                          everything there is, then stop
lakestream consume orders --from latest --follow      what comes from now on
lakestream consume orders --from 2026-01-31T08:00Z --json
"""

import base64
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from lakestream.cli.client import kafka_log
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.client.kafka_records import ConsumedRecord
from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.cli.options import AsJson, Config, Kafka, SetValues, brokers_at
from lakestream.cli.output import say

Show = Callable[[int, ConsumedRecord], None]


def consume(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    start: Annotated[
        str, typer.Option("--from", metavar="WHERE", help="earliest, latest, an offset, or a time (ISO 8601).")
    ] = "earliest",
    count: Annotated[
        int | None, typer.Option("--max", min=0, help="Stop after so many records.", show_default=False)
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on waiting for new records.")] = False,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.", show_default=False)] = None,
    key_separator: Annotated[
        str | None, typer.Option(help="Print the key too, with this between it and the value.", show_default=False)
    ] = None,
    kafka: Kafka = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Print records, one a line."""
    where = None if start.isdecimal() else _timestamp(start)
    if follow and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # readers of the output want each record as it comes
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client:
        partitions = _partitions(client, topic, partition)
        positions = (
            dict.fromkeys(partitions, int(start)) if where is None else _positions(client, topic, partitions, where)
        )
        ends = None if follow else kafka_log.offsets(client, topic, partitions, kafka_log.LATEST)
        _say_what_lies_beyond(positions, ends or {})
        show = _json_line if as_json else _plain_line(key_separator)
        expected = None if ends is None else sum(max(0, ends[each] - positions[each]) for each in partitions)
        with suppress(KeyboardInterrupt):  # the usual end of --follow
            _print_all(_records(client, topic, positions, ends), show, count, expected)


def _partitions(client: KafkaClient, topic: str, only: int | None) -> list[int]:
    count = kafka_log.partition_count(client, topic, create=False)
    if only is not None and only >= count:
        raise CommandFailed(f"topic '{topic}' has partitions 0 to {count - 1}; there is no {only}")
    return list(range(count)) if only is None else [only]


def _positions(client: KafkaClient, topic: str, partitions: list[int], timestamp: int) -> dict[int, int]:
    found = kafka_log.offsets(client, topic, partitions, timestamp)
    if -1 not in found.values():
        return found
    ends = kafka_log.offsets(client, topic, partitions, kafka_log.LATEST)  # no record is so late: begin at the end
    return {each: ends[each] if at == -1 else at for each, at in found.items()}


def _say_what_lies_beyond(positions: Mapping[int, int], ends: Mapping[int, int]) -> None:
    """Report start positions beyond the end: their empty output would look like an empty topic."""
    for partition, end in ends.items():
        if positions[partition] > end:
            say(f"partition {partition} ends at offset {end}: it has nothing from {positions[partition]} on")


def _timestamp(start: str) -> int:
    named = {"earliest": kafka_log.EARLIEST, "latest": kafka_log.LATEST}
    if start in named:
        return named[start]
    try:
        time = datetime.fromisoformat(start)
    except ValueError:
        raise WrongUse(
            f"--from '{start}' is neither earliest, latest, an offset nor a time such as 2026-01-31T08:00:00Z"
        ) from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _records(
    client: KafkaClient, topic: str, positions: dict[int, int], ends: dict[int, int] | None
) -> Iterator[tuple[int, ConsumedRecord]]:
    """Pairs of (partition, record) up to `ends`, or without end."""
    while wanted := {each: at for each, at in positions.items() if ends is None or at < ends[each]}:
        for index, after, records in kafka_log.fetch(client, topic, wanted):
            for record in records:
                if ends is None or record.offset < ends[index]:
                    yield index, record
            positions[index] = after


def _print_all(
    records: Iterator[tuple[int, ConsumedRecord]], show: Show, count: int | None, expected: int | None
) -> None:
    to_file = sys.stderr.isatty() and not sys.stdout.isatty()
    with Progress(transient=True, disable=not to_file, console=Console(stderr=True)) as progress:
        task = progress.add_task("consuming", total=expected if count is None else min(count, expected or count))
        shown = 0
        while count is None or shown < count:
            following = next(records, None)
            if following is None:
                break
            show(*following)
            shown += 1
            progress.advance(task)
    sys.stdout.flush()


def _plain_line(separator: str | None) -> Show:
    console = Console(highlight=False, soft_wrap=True)

    def show(partition: int, record: ConsumedRecord) -> None:
        key = "" if separator is None else f"{_text(record.key)}{separator}"
        line = f"{key}{_text(record.value)}"
        if console.is_terminal:
            console.print(Text.assemble((f"{partition}:{record.offset} ", "dim"), line))
        else:
            sys.stdout.write(f"{line}\n")

    return show


def _json_line(partition: int, record: ConsumedRecord) -> None:
    fields = {
        "partition": partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        **_as_json("key", record.key),
        **_as_json("value", record.value),
        "headers": [{"name": name, **_as_json("value", value)} for name, value in record.headers],
    }
    sys.stdout.write(json.dumps(fields, ensure_ascii=False) + "\n")


def _as_json(name: str, content: bytes | None) -> dict[str, str | None]:
    """As text if it is text, else as base64 under another name."""
    if content is None:
        return {name: None}
    try:
        return {name: content.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(content).decode()}


def _text(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "backslashreplace")

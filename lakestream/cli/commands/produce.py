"""lakestream produce: sends lines as records.

echo hello | lakestream produce greetings
lakestream produce orders --file orders.ndjson --compression zstd
lakestream produce orders --generate orders --rate 100 --seconds 30
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer
from rich.progress import Progress

from lakestream.cli.client import kafka_log
from lakestream.cli.client.generated import generated_record
from lakestream.cli.client.kafka_client import KafkaClient
from lakestream.cli.client.kafka_records import ConsumedRecord, Header
from lakestream.cli.client.paced import Pace
from lakestream.cli.client.partitioner import partition_of_key
from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.cli.options import AsJson, Config, Kafka, SetValues, brokers_at, pair
from lakestream.cli.output import counted, in_units, print_json, say
from lakestream.model.errors import LakestreamError
from lakestream.storage.records.header import Codec
from lakestream.world.chance import SystemChance
from lakestream.world.clock import Clock, SystemClock

_BATCH_BYTES = 512 * 1024
"""The size of one request: below the default limit of a topic, and large enough to keep requests cheap."""
_BATCH_RECORDS = 10_000
_LINE_BYTES_MAX = 64 * 1024 * 1024
_PACE_SECONDS = 0.05
"""Generated records are sent so often."""


def produce(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Read lines from a file instead of stdin.", show_default=False),
    ] = None,
    key_separator: Annotated[
        str | None,
        typer.Option(
            help="What stands between key and value of a line. Without it lines are values.", show_default=False
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A header for every record. May be repeated.", show_default=False),
    ] = None,
    compression: Annotated[
        Literal["none", "gzip", "snappy", "lz4", "zstd"], typer.Option(help="How batches are compressed.")
    ] = "none",
    partition: Annotated[
        int | None,
        typer.Option(min=0, help="Send to this partition. Default: by key, else in turn.", show_default=False),
    ] = None,
    generate: Annotated[
        Literal["orders", "clicks", "sensors"] | None,
        typer.Option(help="Make up records of this kind instead of reading lines.", show_default=False),
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, max=100_000, help="Generated records a second.")] = 10.0,
    count: Annotated[
        int | None, typer.Option(min=1, help="End after so many generated records.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="End after so long. Default: 60 if --count is not given.", show_default=False),
    ] = None,
    kafka: Kafka = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Send lines, or generated records; returns when all are durable."""
    if generate is not None and file is not None:
        raise WrongUse("--generate and --file exclude each other: choose one")
    if generate is None and (count is not None or seconds is not None):
        raise WrongUse("--count and --seconds are for --generate: name what to generate, e.g. --generate orders")
    if key_separator == "":
        raise WrongUse("--key-separator is empty: name what stands between key and value, or leave it out")
    headers: list[Header] = [(name, value.encode()) for name, value in map(pair, header or [])]
    with KafkaClient.connect(brokers_at(config, values, kafka)) as client, ExitStack() as open_files:
        partitions = kafka_log.partition_count(client, topic, create=True)
        if partition is not None and partition >= partitions:
            raise CommandFailed(f"topic '{topic}' has partitions 0 to {partitions - 1}; there is no {partition}")
        source = open_files.enter_context(file.open("rb")) if file else sys.stdin.buffer
        sender = Sender(
            client, topic, Codec[compression.upper()], partitions=partitions, only=partition, clock=SystemClock()
        )
        shown = open_files.enter_context(_progress(file))
        task = shown.add_task(f"producing to {topic}", total=file.stat().st_size if file else None)
        try:
            if generate is not None:
                pace = Pace(rate=rate, count=count, seconds=60.0 if count is None and seconds is None else seconds)
                _generate(sender, generate, pace, headers)
            else:
                for key, value, size in _lines(source, key_separator, live=file is None and sys.stdin.isatty()):
                    sender.add(key, value, headers)
                    shown.advance(task, size)
            sender.flush()
        except LakestreamError:
            say(f"{counted(sender.acknowledged, 'record')} acknowledged before this:")
            raise
    if as_json:
        print_json({"topic": topic, "records": sender.acknowledged, "bytes": sender.bytes})
    else:
        print(f"{counted(sender.acknowledged, 'record')}, {in_units(sender.bytes)} to {topic}")


def _generate(sender: "Sender", kind: str, pace: Pace, headers: list[Header]) -> None:
    """Sends records at their pace. Ctrl-C ends it, and everything that was sent is durable."""
    clock, chance, sent = SystemClock(), SystemChance(), 0
    began = clock.monotonic()
    with suppress(KeyboardInterrupt):
        while not pace.is_over(clock.monotonic() - began, sent):
            for number in range(sent, sent + pace.due(clock.monotonic() - began, sent)):
                sender.add(*generated_record(kind, number, now_ms=clock.wall_ms(), chance=chance), headers)
                sent += 1
            sender.flush()
            asyncio.run(clock.sleep(_PACE_SECONDS))


class Sender:
    """Gathers records and sends them when there are enough. `acknowledged` records are durable."""

    def __init__(
        self, client: KafkaClient, topic: str, codec: Codec, *, partitions: int, only: int | None, clock: Clock
    ) -> None:
        self._client = client
        self._topic = topic
        self._codec = codec
        self._partitions = partitions
        self._only = only
        self._clock = clock
        self._waiting: dict[int, list[ConsumedRecord]] = {}
        self._waiting_records = 0
        self._waiting_bytes = 0
        self._turn = 0
        self.acknowledged = 0
        self.bytes = 0

    def add(self, key: bytes | None, value: bytes | None, headers: list[Header]) -> None:
        record = ConsumedRecord(key, value, headers, self._clock.wall_ms())
        size = len(key or b"") + len(value or b"")
        if self._waiting_records and self._waiting_bytes + size > _BATCH_BYTES:
            self.flush()
        self._waiting.setdefault(self._partition(key), []).append(record)
        self._waiting_records += 1
        self._waiting_bytes += size
        if self._waiting_records >= _BATCH_RECORDS:
            self.flush()

    def flush(self) -> None:
        if not self._waiting:
            return
        kafka_log.produce(self._client, self._topic, self._waiting, self._codec)
        self.acknowledged += self._waiting_records
        self.bytes += self._waiting_bytes
        self._waiting, self._waiting_records, self._waiting_bytes = {}, 0, 0
        self._turn += 1

    def _partition(self, key: bytes | None) -> int:
        if self._only is not None:
            return self._only
        return self._turn % self._partitions if key is None else partition_of_key(key, self._partitions)


def _lines(source: BinaryIO, separator: str | None, *, live: bool) -> Iterator[tuple[bytes | None, bytes, int]]:
    """(key, value, bytes read) for each line."""
    if live:
        say("one record a line; end with Ctrl-D")
    cut = None if separator is None else separator.encode()
    while line := source.readline(_LINE_BYTES_MAX + 1):
        if len(line) > _LINE_BYTES_MAX:
            raise CommandFailed(f"a line has more than {in_units(_LINE_BYTES_MAX)}: that is no record")
        content = line.removesuffix(b"\n").removesuffix(b"\r")
        if cut is None:
            yield None, content, len(line)
            continue
        key, found, value = content.partition(cut)
        if not found:
            raise CommandFailed(f"the line {content[:80]!r} has no separator {separator!r} between key and value")
        yield key, value, len(line)


def _progress(file: Path | None) -> Progress:
    return Progress(transient=True, disable=file is None or not sys.stderr.isatty(), expand=False)

"""From log to typed table, by format: rows a second, bytes at rest, and what bad records cost.

    the same ten-field orders as Avro (framed) and as JSON, and as JSON of which one in a hundred is broken

Bytes are set beside those of the columns, keys and headers alone, and beside Kafka's log of the JSON records in lz4:
batches of the same size, compressed as a producer does, which is what Kafka keeps.
"""

import asyncio
import io
import json
import os
import statistics
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
from rich.console import Console

from benchmarks.order_records import BATCH_RECORDS, PARTITIONS, OrderRecords
from benchmarks.own_pipeline import OwnPipeline, own_pipeline
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.scratch import scratch_folder
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import BY_NAME, HEADERS, KEY

VALUE_BYTES = 185
WARM_RECORDS = 200_000
SCHEMA_ID = 1
BAD_EVERY = 100
FIELDS = {
    "long": ("order_id", "customer_id", "quantity", "ts"),
    "string": ("sku", "currency", "city", "note"),
    "double": ("price",),
    "boolean": ("paid",),
}
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": name, "type": kind} for kind, names in FIELDS.items() for name in names],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    records: int
    rounds: int


FULL = Plan(records=2_000_000, rounds=9)
QUICK = Plan(records=400_000, rounds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    name: str
    value_format: str
    convert: Callable[[list[bytes]], list[bytes]]


@dataclass(slots=True, kw_only=True)
class Measured:
    wall_s: dict[str, list[float]] = field(default_factory=dict)
    cpu_s: dict[str, list[float]] = field(default_factory=dict)
    stored_bytes: dict[str, int] = field(default_factory=dict)
    columns_bytes: dict[str, int] = field(default_factory=dict)
    """Of user columns, keys and headers alone."""
    kafka_lz4_bytes: int = 0


def _as_avro(values: list[bytes]) -> list[bytes]:
    schema = fastavro.parse_schema(SCHEMA)
    found = []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, json.loads(value))
        found.append(struct.pack(">bi", 0, SCHEMA_ID) + out.getvalue())
    return found


def _one_in_a_hundred_broken(values: list[bytes]) -> list[bytes]:
    return [value[:-1] if at % BAD_EVERY == 0 else value for at, value in enumerate(values)]


AVRO, JSON, BAD = "Avro", "JSON", "JSON, 1 % broken"
FORMATS = (
    Format(name=AVRO, value_format="avro", convert=_as_avro),
    Format(name=JSON, value_format="json", convert=lambda values: values),
    Format(name=BAD, value_format="json", convert=_one_in_a_hundred_broken),
)


def run(plan: Plan, console: Console) -> Outcome:
    measured = Measured()
    with scratch_folder() as folder:
        asyncio.run(_rounds(plan, folder, measured, console))
    return Outcome(sections=[_section(plan, measured)], figures=asdict(measured))


async def _rounds(plan: Plan, folder: Path, measured: Measured, console: Console) -> None:
    orders = {one.name: OrderRecords(VALUE_BYTES, one.convert) for one in FORMATS}
    measured.kafka_lz4_bytes = orders[JSON].log_bytes(plan.records, Codec.LZ4)
    async with own_pipeline(folder / "own") as ours:
        await ours.register(SCHEMA_ID, json.dumps(SCHEMA))
        for one in FORMATS:
            await _round(one, orders[one.name], ours, f"warm-{one.name}", WARM_RECORDS, None)
        for turn in range(plan.rounds):
            for one in FORMATS:
                os.sync()
                await _round(one, orders[one.name], ours, f"round-{turn}-{one.name}", plan.records, measured)
            told = ", ".join(f"{name} {rounds[-1]:.1f} s" for name, rounds in measured.wall_s.items())
            console.print(f"round {turn + 1}: {told}", highlight=False)


async def _round(
    format: Format, orders: OrderRecords, ours: OwnPipeline, topic: str, records: int, measured: Measured | None
) -> None:
    before = set(ours.table_files())
    name = "".join(one if one.isalnum() else "-" for one in topic)
    await ours.owe(name, orders, records, value_format=format.value_format)
    paid = await ours.pay()
    if measured is None:
        return
    files = [file for file in ours.table_files() if file not in before]
    measured.wall_s.setdefault(format.name, []).append(paid.wall_s)
    measured.cpu_s.setdefault(format.name, []).append(sum(paid.cpu))
    measured.stored_bytes[format.name] = sum(file.stat().st_size for file in files)
    measured.columns_bytes[format.name] = sum(map(_columns_bytes, files))


def _columns_bytes(file: Path) -> int:
    metadata = pq.read_metadata(file)
    chunks = [
        metadata.row_group(group).column(at)
        for group in range(metadata.num_row_groups)
        for at in range(metadata.num_columns)
    ]
    roots = [(chunk.path_in_schema.partition(".")[0], chunk.total_compressed_size) for chunk in chunks]
    return sum(size for root, size in roots if root not in BY_NAME or root in (KEY, HEADERS))


def _section(plan: Plan, measured: Measured) -> Section:
    rows = []
    for name, walls in measured.wall_s.items():
        stored = measured.stored_bytes[name]
        rows.append(
            [
                name,
                str(Spread.of([plan.records / wall for wall in walls])),
                number(plan.records / statistics.median(measured.cpu_s[name])),
                f"{stored / plan.records:.1f}",
                f"{stored / measured.columns_bytes[name]:.2f}x",
                f"{stored / measured.kafka_lz4_bytes:.2f}x",
            ]
        )
    slower = statistics.median(measured.wall_s[BAD]) / statistics.median(measured.wall_s[JSON]) - 1
    return Section(
        name="value-formats",
        title="Typed tables by format",
        note=(
            f"{number(plan.records)} orders of ten fields ({VALUE_BYTES} B as JSON, {PARTITIONS} partitions, batches of"
            f" {BATCH_RECORDS}), {os.cpu_count()} cores, warm, alternating rounds, {today()}: median [range]."
            f" With 1 % broken records compaction takes {slower:+.0%} time. Kafka's lz4 log of the JSON records has"
            f" {measured.kafka_lz4_bytes / plan.records:.1f} B for each."
        ),
        columns=["", "rows/s", "rows per CPU s", "B/row stored", "of columns, keys, headers", "of Kafka's lz4 log"],
        rows=rows,
    )

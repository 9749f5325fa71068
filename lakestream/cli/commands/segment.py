"""lakestream segment show: prints the content of a WAL segment, from its footer."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lakestream.cli.options import AsJson, Config, SetValues, loaded_settings
from lakestream.cli.output import in_units, print_json, print_table
from lakestream.settings.model import Settings
from lakestream.storage.wal.segment import FOOTER_READ_BYTES, SegmentFooter, decode_footer, footer_bytes, segment_key
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids, is_ulid
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import InlineThreads

app = typer.Typer(no_args_is_help=True, help="Look into WAL segments.")


@app.command()
def show(
    segment: Annotated[str, typer.Argument(metavar="OBJECT", help="A segment's id, its object key, or a file.")],
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Print the footer of a segment: its batches by partition, and receipts of earlier segments."""
    footer, size = asyncio.run(_read(loaded_settings(config, values).settings, segment))
    if as_json:
        print_json(_as_values(footer, size))
    else:
        _print(footer, size)


async def _read(settings: Settings, segment: str) -> tuple[SegmentFooter, int]:
    url, key = _place(settings, segment)
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    objects = await open_objects(
        url, clock=clock, ids=ids, threads=InlineThreads(), options=settings.objects_options, probe=False
    )
    tail, size = await objects.get_tail(key, FOOTER_READ_BYTES)
    if (needed := footer_bytes(tail)) > len(tail):
        tail, size = await objects.get_tail(key, needed)
    await objects.close()
    return decode_footer(tail), size


def _place(settings: Settings, segment: str) -> tuple[str, str]:
    """(store, key) of a file that exists, of a segment id, or of an object key."""
    file = Path(segment).absolute()
    if file.is_file():
        return file.parent.as_uri(), file.name
    return settings.objects_url, segment_key(segment) if is_ulid(segment) else segment


def _as_values(footer: SegmentFooter, size: int) -> dict[str, object]:
    return {
        "segment": footer.segment,
        "bytes": size,
        "cluster": footer.cluster_id,
        "broker": footer.broker_id,
        "created_ms": footer.created_ms,
        "entries": [entry._asdict() | {"topic_id": entry.topic_id.hex()} for entry in footer.entries],
        "receipts": [receipt._asdict() | {"topic_id": receipt.topic_id.hex()} for receipt in footer.receipts],
    }


def _print(footer: SegmentFooter, size: int) -> None:
    title = f"segment {footer.segment}  {in_units(size)}  broker {footer.broker_id}  cluster {footer.cluster_id}"
    print_table(
        ["topic id", ">partition", ">at", ">bytes", ">records", ">max timestamp"],
        [(e.topic_id.hex(), e.partition, e.at, e.length, e.records, e.max_timestamp_ms) for e in footer.entries],
        title=title,
    )
    if footer.receipts:
        print()
        print_table(
            ["receipt for", "topic id", ">partition", ">at", ">bytes", ">base offset", ">records"],
            [
                (r.segment, r.topic_id.hex(), r.partition, r.at, r.length, r.base_offset, r.records)
                for r in footer.receipts
            ],
        )

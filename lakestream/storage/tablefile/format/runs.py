"""Runs: the footer's description of a file's rows as a log, under the key `lakestream.rows`.

    {"version": 1, "codec": 1, "groups": [[run, ...], ...]}
    run = [partition, rows, base_offset, last_offset, source, max_timestamp_ms]

There is one list for each row group, with one entry for each run, in the order of the rows. A run is a stretch of rows
of one partition whose batches were of one kind. `codec` is the version of the rules that turn rows back into records.
The text is JSON because Parquet's footer takes text, and because a person may have to read it.

`source` is taken from Kafka's batch attributes: the codec in bits 0-2, log-append time in bit 3. -1 marks a raw batch:
a run of one row that stands for the offsets from base to last, and whose value is served unchanged.
"""

import json
from itertools import pairwise
from typing import NamedTuple

from lakestream.storage.records.header import CODEC_MASK, LOG_APPEND_TIME_BIT, Codec

FOOTER_KEY = "lakestream.rows"
VERSION = 1
CODEC_VERSION = 1

RAW_BATCH = -1
SOURCE_BITS = CODEC_MASK | LOG_APPEND_TIME_BIT


class RowRun(NamedTuple):
    partition: int
    rows: int
    base_offset: int
    last_offset: int
    source: int
    max_timestamp_ms: int

    @property
    def is_raw(self) -> bool:
        return self.source == RAW_BATCH

    @property
    def is_compressed(self) -> bool:
        return not self.is_raw and self.source & CODEC_MASK != Codec.NONE

    @property
    def is_log_append_time(self) -> bool:
        return not self.is_raw and bool(self.source & LOG_APPEND_TIME_BIT)


class BadRuns(ValueError):
    """The text is not in the format of this version or of an earlier one."""


def pack_runs(groups: list[list[RowRun]]) -> str:
    return json.dumps({"version": VERSION, "codec": CODEC_VERSION, "groups": groups}, separators=(",", ":"))


def unpack_runs(text: str | bytes) -> list[list[RowRun]]:
    """The runs of each row group. Raises BadRuns."""
    try:
        content = json.loads(text)
        version, codec = content["version"], content["codec"]
        if (version, codec) != (VERSION, CODEC_VERSION):
            raise BadRuns(f"its rows are of version {version}.{codec}: a newer Lakestream reads it")
        groups = [[_checked(RowRun(*run)) for run in group] for group in content["groups"]]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise error if isinstance(error, BadRuns) else BadRuns(f"its list of rows is malformed: {error}") from error
    _check_order([run for group in groups for run in group])
    return groups


def _checked(run: RowRun) -> RowRun:
    if not all(type(number) is int for number in run):
        raise BadRuns("its list of rows holds something else than numbers")
    if run.partition < 0 or run.rows < 1 or not RAW_BATCH <= run.source <= SOURCE_BITS:
        raise BadRuns(f"its list of rows has an impossible entry {tuple(run)}")
    if not 0 <= run.base_offset <= run.last_offset < 1 << 63:
        raise BadRuns(f"its list of rows has impossible offsets {tuple(run)}")
    return run


def _check_order(runs: list[RowRun]) -> None:
    for before, after in pairwise(runs):
        if (after.partition, after.base_offset) <= (before.partition, before.last_offset):
            raise BadRuns(f"its rows are not in order of partition and offset at {tuple(after)}")


def continues(before: RowRun, after: RowRun, *, crowded: bool) -> bool:
    """Whether `after` continues the run `before`. In a crowded group a change of codec does not end a run."""
    if before.partition != after.partition or before.is_raw or after.is_raw:
        return False
    alike = crowded or before.is_compressed == after.is_compressed
    return alike and before.is_log_append_time == after.is_log_append_time


def joined(before: RowRun, after: RowRun) -> RowRun:
    return RowRun(
        partition=before.partition,
        rows=before.rows + after.rows,
        base_offset=before.base_offset,
        last_offset=after.last_offset,
        source=before.source if before.source & CODEC_MASK != Codec.NONE else after.source,
        max_timestamp_ms=max(before.max_timestamp_ms, after.max_timestamp_ms),
    )

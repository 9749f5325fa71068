"""Planning a merge: which neighbouring small files of a topic's log become one. Pure: no Spark, no stores.

    uses of files (index) + files of `log` (table)  ->  units, in the order of their records  ->  groups, a file each

A unit is what one task has written: a file, and perhaps a second one with rows that only `log` shows. Units that
follow each other may become one. Every merge makes a file several times as large, mostly `files_min` times, so a record
is rewritten a few times in its life. Smaller files are merged first, among themselves: a large file does not wait for
them, and is not rewritten for them.

A merged file lives as long as its youngest record. Where the topic has a retention, a group covers a small part of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.catalog.files.commit_names import LOG_FILE_END
from lakestream.catalog.topic.mergeable import LogFile, Standing
from lakestream.model.configs.topic_config import TopicConfig
from lakestream.model.job import FileUse

MIB = 1024 * 1024
RETENTION_PARTS = 16
"""A group covers at most this part of a topic's retention, in time and in bytes."""
SHORT_PARTS = 8
GROWTH_MIN = 2
"""A merged file is at least so many times as large as any of its files."""
GROUP_FILES_MAX = 1_000
"""Files merged into one: a worker reads them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeLimits:
    target_bytes: int = 128 * MIB
    """The size at which a file is left alone."""
    files_min: int = 16
    """Neighbouring files of one size class that are worth a merge."""
    round_bytes_max: int = 256 * MIB
    """Bytes of files merged in one go: a round of compaction may have to wait for it."""
    time_share: float = 0.15
    """The most of the pipeline's time that goes into merging. Nothing is merged if it is 0."""

    @property
    def short_round_bytes_max(self) -> int:
        """The same while a topic is fast (on-read, 1s): its records wait about a second for a merge of this size."""
        return self.round_bytes_max // SHORT_PARTS


class Retention(NamedTuple):
    """The shortest time for which the log or the table keeps a record, and the log's bytes; None is no limit."""

    ms: int | None = None
    bytes: int | None = None


FOR_EVER = Retention()


def shortest_retention(config: TopicConfig) -> Retention:
    times = [ms for ms in (config.retention_ms, config.table_retention.ms) if ms is not None]
    return Retention(min(times, default=None), config.retention_bytes)


class Unit(NamedTuple):
    """Files that stay together: records of the same offsets may lie in both."""

    file: LogFile | None
    log_file: LogFile | None
    log_bytes: int
    """The bytes of its records in the log."""
    first_ms: int
    last_ms: int

    @property
    def files(self) -> tuple[LogFile, ...]:
        return tuple(file for file in (self.file, self.log_file) if file is not None)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


Run = list[Unit]
"""Neighbours that may be merged with each other."""


def runs_of(uses: Iterable[FileUse], files: Mapping[str, LogFile], *, folder: str) -> list[Run]:
    """The topic's units in runs. `uses` are in the order of their records, `files` are those of `log`, by path. Only
    files below `folder` are the log's own.

    A file that must stay as it is ends a run, and so does a change of the branches that have the files."""
    runs: list[Run] = [[]]
    standing: Standing | None = None
    for unit in _units(uses, files, folder):
        own = None if unit is None or unit.file is None else unit.file.standing
        if unit is None or (own is not None and standing not in (None, own)):
            runs.append([])
            standing = None
        if unit is not None:
            runs[-1].append(unit)
            standing = own or standing
    return [run for run in runs if len(run) > 1]


def groups_of(run: Run, limits: MergeLimits, retention: Retention = FOR_EVER) -> list[Run]:
    """Groups of units that are worth a merge now, each into one file; earlier records first. They do not overlap."""
    for bytes_max in _size_classes(limits):
        found = [
            group
            for stretch in _stretches(run, bytes_max)
            for group in _worthwhile(_cut(stretch, limits.target_bytes, retention), limits)
        ]
        if found:
            return found
    return []


def all_groups_of(run: Run, limits: MergeLimits, retention: Retention = FOR_EVER) -> list[Run]:
    """Every group of at least two units that fits into one file, whether or not it is worth it yet."""
    stretches = _stretches(run, _small_bytes(limits))
    return [group for stretch in stretches for group in _cut(stretch, limits.target_bytes, retention) if len(group) > 1]


def within(groups: Iterable[Run], bytes_max: int) -> list[Run]:
    """The first groups that fit into a budget, and at least a part of the first one."""
    taken: list[Run] = []
    left = bytes_max
    for group in groups:
        size = sum(unit.bytes for unit in group)
        if size > left:
            part = _cut(group, left, FOR_EVER)[0]
            return [*taken, part] if not taken and len(part) > 1 else taken
        taken.append(group)
        left -= size
    return taken


def is_small(bytes: int, limits: MergeLimits) -> bool:
    """Whether a file of this size may be merged with others."""
    return bytes < _small_bytes(limits)


def _units(uses: Iterable[FileUse], files: Mapping[str, LogFile], folder: str) -> list[Unit | None]:
    """None for a unit that must stay as it is."""
    by_path: dict[str, list[FileUse]] = {}
    units: list[list[FileUse]] = []
    for use in uses:
        own = next((by_path[path] for path in (use.file, use.log_file) if path in by_path), None)
        if own is None:
            own = []
            units.append(own)
        own.append(use)
        by_path |= {path: own for path in (use.file, use.log_file) if path is not None}
    return [_unit(own, files, folder) for own in units]


def _unit(uses: Sequence[FileUse], files: Mapping[str, LogFile], folder: str) -> Unit | None:
    paths = {path for use in uses for path in (use.file, use.log_file) if path is not None}
    shown = [path for path in paths if not path.endswith(LOG_FILE_END)]
    hidden = [path for path in paths if path.endswith(LOG_FILE_END)]
    ours = all(path in files and path.startswith(f"{folder}/") for path in paths)
    if not ours or len(shown) > 1 or len(hidden) > 1:
        return None
    file, log_file = (files[some[0]] if some else None for some in (shown, hidden))
    if any(each is not None and each.standing is Standing.TIED for each in (file, log_file)):
        return None
    if log_file is not None and log_file.standing is not Standing.ON_LOG_ALONE:
        return None
    return Unit(
        file,
        log_file,
        sum(use.bytes for use in uses),
        min(use.first_ms for use in uses),
        max(use.last_ms for use in uses),
    )


def _small_bytes(limits: MergeLimits) -> int:
    """A file of this size is large enough: to fill it up would rewrite it for little."""
    return limits.target_bytes * 3 // 4


def _size_classes(limits: MergeLimits) -> list[int]:
    """The sizes that divide small files into classes, smallest first: those are the most, and the cheapest."""
    classes = [_small_bytes(limits)]
    while classes[-1] >= limits.files_min:
        classes.append(classes[-1] // limits.files_min)
    return classes[::-1]


def _worthwhile(groups: Sequence[Run], limits: MergeLimits) -> list[Run]:
    """A group is merged when it has enough files, or when no other file fits into it: a later one has begun."""
    full = [group for group in groups[:-1] if len(group) > 1]
    return full + [group for group in groups[-1:] if len(group) >= limits.files_min and _grows(group, limits)]


def _grows(group: Run, limits: MergeLimits) -> bool:
    """Whether the merged file is several times as large as the largest of the group."""
    largest = max(unit.bytes for unit in group)
    return sum(unit.bytes for unit in group) >= max(GROWTH_MIN, limits.files_min // 4) * largest


def _stretches(run: Run, bytes_max: int) -> list[Run]:
    """The neighbours that are smaller than the bound."""
    found: list[Run] = [[]]
    for unit in run:
        if unit.bytes < bytes_max:
            found[-1].append(unit)
        elif found[-1]:
            found.append([])
    return found


def _cut(stretch: Run, bytes_max: int, retention: Retention) -> list[Run]:
    """The stretch in groups that each fit into one file."""
    ms_max = None if retention.ms is None else retention.ms // RETENTION_PARTS
    log_bytes_max = None if retention.bytes is None else retention.bytes // RETENTION_PARTS
    groups: list[Run] = []
    bytes = log_bytes = 0
    for unit in stretch:
        bytes, log_bytes = bytes + unit.bytes, log_bytes + unit.log_bytes
        if (
            not groups
            or len(groups[-1]) >= GROUP_FILES_MAX
            or bytes > bytes_max
            or (ms_max is not None and unit.last_ms - groups[-1][0].first_ms > ms_max)
            or (log_bytes_max is not None and log_bytes > log_bytes_max)
        ):
            groups.append([])
            bytes, log_bytes = unit.bytes, unit.log_bytes
        groups[-1].append(unit)
    return groups

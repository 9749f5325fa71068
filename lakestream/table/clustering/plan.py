"""Planning a clustering: which files of `main` are written again, and together with which. Pure: no Spark, no stores.

files that wait          -> groups of neighbours, in the order in which they came, each for one task
small files of a layout  -> groups of one partition that together make a large file
"""

from collections.abc import Callable, Iterable, Sequence

from lakestream.catalog.topic.clusterable import MainFile
from lakestream.catalog.topic.merge_plan import MergeLimits, is_small

GROUP_FILES_MAX = 1_000
"""Files that one task reads."""
Group = list[MainFile]


def groups_of_waiting(
    waiting: Iterable[MainFile], limits: MergeLimits, *, came: Callable[[MainFile], object]
) -> list[Group]:
    """All files that wait, those first that `came` first. A task's rows make a file for each partition, so a group is
    as large as it may be."""
    groups: list[Group] = []
    size = 0
    for file in sorted(waiting, key=lambda file: (came(file), file.path)):
        if not groups or size + file.bytes > limits.target_bytes or len(groups[-1]) >= GROUP_FILES_MAX:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.bytes
    return groups


def groups_of_clustered(clustered: Iterable[MainFile], limits: MergeLimits) -> list[Group]:
    """Small files of one partition, where there are enough of them. Their rows are sorted together."""
    by_partition: dict[str, Group] = {}
    for file in sorted(clustered, key=lambda file: file.bytes):
        if is_small(file.bytes, limits):
            by_partition.setdefault(file.partition, []).append(file)
    groups = [_that_fit(own, limits) for own in by_partition.values()]
    return [group for group in groups if len(group) >= limits.files_min]


def within_budget(groups: Iterable[Group], bytes_max: int) -> list[Group]:
    """The first groups that fit, and at least the first file of the first."""
    taken: list[Group] = []
    left = bytes_max
    for group in groups:
        part = _prefix(group, left, at_least=0 if taken else 1)
        if part:
            taken.append(part)
            left -= sum(file.bytes for file in part)
        if len(part) < len(group):
            break
    return taken


def _that_fit(files: Sequence[MainFile], limits: MergeLimits) -> Group:
    return _prefix(files, limits.target_bytes, at_least=0)[:GROUP_FILES_MAX]


def _prefix(files: Sequence[MainFile], bytes_max: int, *, at_least: int) -> Group:
    """The first files that fit."""
    taken: Group = []
    for file in files:
        bytes_max -= file.bytes
        if bytes_max < 0 and len(taken) >= at_least:
            break
        taken.append(file)
    return taken

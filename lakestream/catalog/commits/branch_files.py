"""The data files of a branch, from a state that holds the entries of all its data manifests."""

from collections.abc import Iterator

from lakestream.catalog.commits.table_state import TableState, head_of
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content


def paths_of(state: TableState, branch: str) -> list[str]:
    return [
        entry.path
        for row in _manifests(state, branch)
        for entry in state.entries[row["manifest_path"]]
        if entry.status is not Status.DELETED
    ]


def entries_of(state: TableState, branch: str) -> Iterator[tuple[EntryFormat, ManifestEntry]]:
    """Each entry with inherited values, and the format that reads its description."""
    formats: dict[int, EntryFormat] = {}
    for row in _manifests(state, branch):
        spec_id = row["partition_spec_id"]
        format = formats.get(spec_id) or formats.setdefault(spec_id, EntryFormat(state.metadata, spec_id))
        for entry in settled_entries(state.entries[row["manifest_path"]], row):
            yield format, entry


def _manifests(state: TableState, branch: str) -> list[ManifestFile]:
    head = head_of(state.metadata, branch)
    return [] if head is None else [row for row in state.lists.get(head, ()) if row["content"] == Content.DATA]

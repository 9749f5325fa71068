"""Rolled manifests, made by the commit that needs them or, better, after the one before it, which knows them already.

    commit n answered -> group that commit n+1 will roll -> manifest written -> commit n+1 only names it

So a commit that replaces a thousand entries takes as long as its neighbours. A manifest that was made ahead is for the
next version of the table and no other: if someone else commits that version, it is a leftover (commit_names.py).
"""

from collections.abc import Sequence

from lakestream.catalog.commits.rolling import living, manifests_to_roll
from lakestream.catalog.commits.table_state import ManifestPaths, NewObject, TableState, has_lineage
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, settled_entries
from lakestream.catalog.manifests.manifests import encode_manifest
from lakestream.catalog.spec.values import Metadata


def roll_ahead(state: TableState, *, names: CommitNames) -> dict[ManifestPaths, NewObject]:
    """The manifests that the next commit to these branches would roll, by the groups that they replace. Nothing in them
    depends on that commit but its version, which is in their names."""
    ahead: dict[ManifestPaths, NewObject] = {}
    for rows in state.lists.values():
        group = manifests_to_roll(living(rows), lineage=has_lineage(state.metadata))
        paths = tuple(row["manifest_path"] for row in group)
        if group and paths not in ahead:
            ahead[paths] = rolled_manifest(state, group, names.manifest(len(ahead)))
    return ahead


def rolled_manifest(state: TableState, group: Sequence[ManifestFile], location: str) -> NewObject:
    format = EntryFormat(state.metadata, group[0]["partition_spec_id"])
    entries = [entry for row in group for entry in settled_entries(state.entries[row["manifest_path"]], row)]
    return new_manifest(state.metadata, format, entries, location)


def new_manifest(metadata: Metadata, format: EntryFormat, entries: Sequence[ManifestEntry], location: str) -> NewObject:
    content = encode_manifest(metadata, format, entries)
    return NewObject(location=location, content=content, entries=tuple(entries), types=format.types)

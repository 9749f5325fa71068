"""Manifests that an engine wrote to `main` of a topic's table: compaction and retention go on over all of them."""

from collections.abc import Sequence

import pytest

from lakestream.catalog.commits.rolling import FAN_IN
from lakestream.catalog.manifests.data_files import manifest_data_file
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, Status
from lakestream.catalog.manifests.manifests import encode_manifest, encode_manifest_list, manifest_row
from lakestream.catalog.spec.values import Json
from tests.unit.catalog.samples import LOCATION, Lake, applied, data_file, field, schema, snapshot, to_branch

COLUMNS = (field(1, "id"), field(2, "day", "date"), field(3, "at", "timestamptz"), field(2_000_000_102, "__offset"))
YEAR_55_840 = 19_675_925
"""In days: what becomes of microseconds that are taken for milliseconds."""


class Engine:
    """It has rewritten `main` in a spec of its own, a manifest for each partition."""

    def __init__(self, lake: Lake, partition_field: Json) -> None:
        self.lake = lake
        lake.metadata = applied(
            lake.metadata,
            {"action": "add-schema", "schema": schema(*COLUMNS)},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"fields": [partition_field]}},
            {"action": "set-default-spec", "spec-id": -1},
        )
        self.format = EntryFormat(lake.metadata, 1)

    def rewrites(self, partitions: Sequence[int], *, states_partitions: bool = True) -> None:
        lake, parent = self.lake, self.lake.head("main")
        id, sequence = lake.ids.snapshot_id(), lake.metadata["last-sequence-number"] + 1
        rows = [self._manifest(value, number, id, sequence) for number, value in enumerate(partitions)]
        if not states_partitions:
            rows = [{**row, "partitions": None} for row in rows]
        made = {**snapshot(id, sequence=sequence, parent=parent), "summary": {"operation": "replace"}}
        content = encode_manifest_list(lake.metadata, rows, snapshot=made, parent_id=parent)
        lake.run(lake.objects.write(made["manifest-list"], content))
        lake.metadata = applied(lake.metadata, {"action": "add-snapshot", "snapshot": made}, to_branch("main", id))
        lake.forget()

    def _manifest(self, partition: int, number: int, snapshot_id: int, sequence: int) -> Json:
        file = manifest_data_file(data_file(f"theirs-{number}", spec_id=1, partition=[partition]), self.format.spec)
        entry = ManifestEntry(
            status=Status.ADDED,
            snapshot_id=snapshot_id,
            sequence_number=None,
            file_sequence_number=None,
            first_row_id=None,
            path=file["file_path"],
            rows=file["record_count"],
            data_file=self.format.encode_data_file(file),
        )
        content, location = encode_manifest(self.lake.metadata, self.format, [entry]), f"{LOCATION}/metadata/{number}"
        self.lake.run(self.lake.objects.write(location, content))
        return manifest_row(
            self.format,
            [entry],
            [file["partition"]],
            location=location,
            length=len(content),
            snapshot_id=snapshot_id,
            sequence_number=sequence,
            first_row_id=None,
        )


@pytest.mark.parametrize(
    ("source", "transform", "far"),
    [(3, "day", YEAR_55_840), (2, "identity", -2_000_000_000), (3, "identity", 2**62)],
)
def test_a_date_beyond_pythons_own_stops_nothing(source: int, transform: str, far: int) -> None:
    lake = Lake(2)
    lake.append(data_file("a"))
    engine = Engine(lake, {"source-id": source, "name": "p", "transform": transform})
    engine.rewrites([far, *range(FAN_IN - 1)])
    lake.append(data_file("b"))
    lake.remove("a")
    (rolled,) = (row for row in lake.manifests("main") if row["partition_spec_id"] == 1)
    assert rolled["existing_files_count"] == FAN_IN
    bounds = [rolled["partitions"][0][bound] for bound in ("lower_bound", "upper_bound")]
    assert far in [int.from_bytes(bound, "little", signed=True) for bound in bounds]


def test_manifests_whose_partitions_nobody_stated_are_rolled_without() -> None:
    lake = Lake(2)
    lake.append(data_file("a"))
    engine = Engine(lake, {"source-id": 1, "name": "p", "transform": "bucket[8]"})
    engine.rewrites([number % 8 for number in range(FAN_IN)], states_partitions=False)
    lake.append(data_file("b"))
    (rolled,) = (row for row in lake.manifests("main") if row["partition_spec_id"] == 1)
    assert rolled["existing_files_count"] == FAN_IN and rolled["partitions"] is None

"""Names of what commits write: from them alone it is told what can never be needed."""

import pytest

from lakestream.catalog.files.commit_names import CommitNames, is_settled, version_of

FOLDER = "memory:///tables/t-log/metadata"


def test_everything_of_an_attempt_begins_with_the_version_it_is_for() -> None:
    names = CommitNames(folder=FOLDER, version=12, attempt="a")
    assert names.manifest(0) == f"{FOLDER}/00012-a-m0.avro"
    assert names.manifest_list(7) == f"{FOLDER}/00012-a-snap-7.avro"
    assert version_of(names.manifest(3)) == version_of(names.manifest_list(1)) == 12


@pytest.mark.parametrize(
    ("name", "settled"),
    [
        ("00011-a-m0.avro", True),
        ("00012-a.metadata.json", True),
        ("00012-a.gz.metadata.json", True),
        ("00013-a-m0.avro", False),  # its commit may be under way
        ("100000-a-m0.avro", False),
        ("snap-1-1-a.avro", False),  # not one of ours
        ("0f7c0f7c-0000-4000-8000-000000000001-m0.avro", False),
        ("00011-a.parquet", False),
    ],
)
def test_only_what_was_written_for_a_version_that_is_reached_is_settled(name: str, settled: bool) -> None:
    assert is_settled(f"{FOLDER}/{name}", 12) is settled

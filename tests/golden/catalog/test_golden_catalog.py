"""What a commit writes has not changed, and what was written before is still read."""

import gzip
import json

import pytest

from lakestream.catalog.files.metadata_file import decode_metadata
from lakestream.catalog.manifests.entries import EntryFormat
from lakestream.catalog.manifests.manifests import decode_manifest_list
from tests.golden.catalog.make import FOLDER, VERSIONS, history, newest_files, packed, read_by_stranger

versions = pytest.mark.parametrize("version", VERSIONS)


@versions
def test_metadata_is_written_as_before(version: int) -> None:
    assert history(version).metadata == json.loads((FOLDER / f"v{version}.metadata.json").read_text())


@versions
def test_packed_metadata_are_written_as_before(version: int) -> None:
    lake, golden = history(version), (FOLDER / f"v{version}.gz.metadata.json").read_bytes()
    assert json.loads(gzip.decompress(golden)) == lake.metadata
    assert json.loads(gzip.decompress(packed(lake))) == lake.metadata  # in whichever order, packed however zlib does it
    assert decode_metadata(golden, "golden").metadata == lake.metadata


@versions
def test_manifests_and_lists_say_what_they_said_before(version: int) -> None:
    manifest, manifest_list = newest_files(history(version))
    found = {"manifest": read_by_stranger(manifest), "list": read_by_stranger(manifest_list)}
    assert found == json.loads((FOLDER / f"v{version}.json").read_text())


@versions
def test_files_of_the_past_are_read(version: int) -> None:
    metadata = json.loads((FOLDER / f"v{version}.metadata.json").read_text())
    rows = decode_manifest_list((FOLDER / f"v{version}-list.avro").read_bytes(), "list")
    assert [row["added_files_count"] for row in rows] == [2] * 5
    format = EntryFormat(metadata, 0)
    entries = format.decode((FOLDER / f"v{version}-manifest.avro").read_bytes(), rows[0])
    assert [(entry.path.rpartition("/")[2], entry.rows) for entry in entries] == [("f4.parquet", 14), ("g4.parquet", 3)]

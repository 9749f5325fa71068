"""Metadata files: their names, their history, compression, and what is deleted after a commit."""

import asyncio
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.files import metadata_file
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles, decode_metadata, next_version, version_of
from lakestream.catalog.topic.needed_files import NeededFiles
from lakestream.model.table_errors import DamagedTable, InvalidLocation, InvalidTableChange
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from tests.unit.catalog.samples import LOCATION, UUID, add, applied, avro_list, seeded_ids, snapshot, table, to_branch

FIRST = f"{LOCATION}/metadata/00000-a.metadata.json"


def test_a_version_enters_the_one_before_it_in_its_log() -> None:
    base = table()
    next = next_version(base, FIRST, applied(base), uuid="b")
    assert next.location == f"{LOCATION}/metadata/00001-b.metadata.json"
    assert next.metadata["metadata-log"] == [{"timestamp-ms": base["last-updated-ms"], "metadata-file": FIRST}]
    assert next.superfluous == ()


@pytest.mark.parametrize("delete", [True, False])
def test_old_versions_leave_the_log_and_are_deleted_if_the_table_wants_it(delete: bool) -> None:
    wishes = {
        "write.metadata.previous-versions-max": "2",
        "write.metadata.delete-after-commit.enabled": str(delete).lower(),
    }
    base, location, gone = table(properties=wishes), FIRST, []
    for uuid in "bcde":
        next = next_version(base, location, applied(base), uuid=uuid)
        base, location = next.metadata, next.location
        gone += [one.rpartition("/")[2][:7] for one in next.superfluous]
    assert [one["metadata-file"].rpartition("/")[2][:7] for one in base["metadata-log"]] == ["00002-c", "00003-d"]
    assert gone == (["00000-a", "00001-b"] if delete else [])


def test_a_bound_that_is_no_number_is_refused() -> None:
    base = table(properties={"write.metadata.previous-versions-max": "many"})
    with pytest.raises(InvalidTableChange):
        next_version(base, FIRST, base, uuid="b")


def test_a_compression_that_nobody_reads_is_refused() -> None:
    base = table(properties={"write.metadata.compression-codec": "lz4"})
    with pytest.raises(InvalidTableChange, match="one of none, gzip, not 'lz4'"):
        next_version(base, FIRST, base, uuid="b")


def test_files_are_compressed_if_the_table_wants_it() -> None:
    async def scenario() -> None:
        store = MemoryObjects(SystemClock())
        objects = TableObjects(store)
        files = MetadataFiles(objects, ids=seeded_ids())
        metadata = table(properties={"write.metadata.compression-codec": "gzip"})
        location = await files.write_first(metadata)
        assert location.endswith(".gz.metadata.json")
        assert json.loads(gzip.decompress(await store.get(objects.key_of(location)))) == metadata
        assert (await MetadataFiles(objects, ids=seeded_ids()).read(location)).metadata == metadata

    asyncio.run(scenario())


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_a_metadata_file_reads_back_as_it_was_written(codec: str) -> None:
    """Also where a value is not ASCII, and where the file is of a view or of a table that lacks parts."""

    async def scenario() -> None:
        objects = TableObjects(MemoryObjects(SystemClock()))
        files = MetadataFiles(objects, ids=seeded_ids())
        wishes = {"write.metadata.compression-codec": codec, "note": "ü\n\"'"}
        whole = applied(table(properties=wishes), add(1), to_branch("main", 1))
        for without in (None, "snapshots", "refs", "snapshot-log", "metadata-log"):
            metadata = {name: value for name, value in whole.items() if name != without}
            location = await files.write_first(metadata)
            assert (await MetadataFiles(objects, ids=seeded_ids()).read(location)).metadata == metadata

    asyncio.run(scenario())


def test_a_packed_metadata_file_is_a_fraction_of_its_text() -> None:
    async def scenario() -> None:
        objects = TableObjects(MemoryObjects(SystemClock()))
        snapshots = [snapshot(id, sequence=id, parent=id - 1) for id in range(1, 201)]
        wishes = {"write.metadata.compression-codec": "gzip"}
        files = MetadataFiles(objects, ids=seeded_ids())
        location = await files.write_first(table(properties=wishes) | {"snapshots": snapshots})
        assert 5 * len(await objects.read(location)) < len((await files.read(location)).json)

    asyncio.run(scenario())


def test_what_unpacks_to_any_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes that someone registers as a table could otherwise fill the gateway's memory."""
    monkeypatch.setattr(metadata_file, "_UNPACKED_BYTES_MAX", 1000)
    text = json.dumps(table()).encode()
    with pytest.raises(DamagedTable, match="has more than"):
        decode_metadata(gzip.compress(text + b" " * 1000), "where")


def test_gzip_of_several_members_is_read_whole_and_what_is_damaged_is_refused() -> None:
    """Others may write it so; Java reads it."""
    text = json.dumps(table()).encode()
    packed = b"".join(gzip.compress(piece) for piece in (text[:100], b"", text[100:]))
    assert decode_metadata(packed, "where").metadata == table()
    for damaged in (packed[:-9], packed[:-1], packed[:30] + b"x" + packed[31:], packed + b"more"):
        with pytest.raises(DamagedTable, match="is no metadata file"):
            decode_metadata(damaged, "where")


def test_a_version_that_was_superseded_is_read_again_by_whoever_wants_it() -> None:
    async def scenario() -> None:
        files = MetadataFiles(TableObjects(MemoryObjects(SystemClock())), ids=seeded_ids())
        location = await files.write_first(table())
        kept = await files.read(location)
        assert await files.read(location) is kept
        files.forget(location)
        again = await files.read(location)
        assert again is not kept and again.metadata == kept.metadata

    asyncio.run(scenario())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\x1f\x8b broken", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_metadata_file_is_said_to_be_damaged(content: bytes) -> None:
    with pytest.raises(DamagedTable, match="where"):
        decode_metadata(content, "where")


def test_numbers_of_files_are_found_in_their_names() -> None:
    assert [version_of(name) for name in (FIRST, "x/00042-u.gz.metadata.json", "x/v3.metadata.json")] == [0, 42, -1]


# --- locations ----------------------------------------------------------------------------------------


class At(MemoryObjects):
    def __init__(self, url: str) -> None:
        super().__init__(SystemClock())
        self.url = url  # type: ignore[misc]


@pytest.mark.parametrize(
    ("url", "location", "key"),
    [
        ("file:///data/a%20b", "file:///data/a b/tables/u/x", "tables/u/x"),
        ("file:///data", "file:/data/tables/u/x", "tables/u/x"),
        ("file:///data", "file:///data/tables/u/x", "tables/u/x"),
        ("s3://bucket/prefix", "s3a://bucket/prefix/tables/u/x", "tables/u/x"),
        ("s3://bucket", "s3://bucket/tables/u/x", "tables/u/x"),
        ("memory://", "memory:///tables/u/x", "tables/u/x"),
    ],
)
def test_a_location_is_a_key(url: str, location: str, key: str) -> None:
    assert TableObjects(At(url)).key_of(location) == key


@pytest.mark.parametrize(
    "location",
    [
        "file:///data/wal/x",
        "file:///data/tables",
        "file:///data/tables/",
        "file:///data/tables/../wal/x",
        "file:///data/tables/.hidden",
        "file:///data/tables//x",
        "file:///other/tables/x",
        "s3://data/tables/x",
        "/data/tables/x",
        "",
    ],
)
def test_a_location_outside_the_tables_folder_is_refused(location: str) -> None:
    with pytest.raises(InvalidLocation):
        TableObjects(At("file:///data")).key_of(location)


def test_a_table_does_not_live_in_anothers_folder() -> None:
    objects = TableObjects(At("file:///data"))
    objects.check_folder(objects.table_location(UUID), UUID)
    objects.check_folder("file:///data/tables/of/my/own", UUID)
    with pytest.raises(InvalidLocation, match="another"):
        objects.check_folder(objects.table_location("11111111-2222-4333-8444-555555555555") + "/x", UUID)


def test_what_an_expired_snapshot_had_goes_however_its_maker_spelt_it() -> None:
    """Spark writes `file:/data` for a table at `file:///data`; such files once stayed for ever."""
    objects = TableObjects(At("file:///data"))
    folder = f"data/tables/{UUID}/metadata"
    old, new = (snapshot(id) | {"manifest-list": f"file:/{folder}/snap-{id}.avro"} for id in (1, 2))
    elsewhere = snapshot(3) | {"manifest-list": "file:/data/tables/another/snap-3.avro"}
    metadata = table() | {"location": f"file:///data/tables/{UUID}", "snapshots": [old, elsewhere, new]}

    async def scenario() -> tuple[str, ...]:
        for one in metadata["snapshots"]:
            await objects.write(one["manifest-list"], avro_list([]))
        return await NeededFiles(objects, SnapshotFiles(objects)).superfluous_without(metadata, [old, elsewhere])

    assert asyncio.run(scenario()) == (old["manifest-list"],)


@given(st.text())
def test_no_location_reaches_outside(location: str) -> None:
    objects = TableObjects(At("file:///data"))
    try:
        key = objects.key_of(f"file:///data/tables/{location}")
    except InvalidLocation:
        return
    assert key.startswith("tables/") and ".." not in key.split("/")

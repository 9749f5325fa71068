"""Locations as keys of a store, roots outside of it, and what goes with the last file of a folder."""

import asyncio
from pathlib import Path

import pytest

from lakestream.app.table_roots import open_roots
from lakestream.catalog.files.locations import TableObjects
from lakestream.model.errors import InvalidSetting
from lakestream.model.table_errors import InvalidLocation, MissingTableFile
from lakestream.world.clock import SystemClock
from lakestream.world.objects.file import FileObjects
from lakestream.world.threads import InlineThreads
from tests.unit.catalog.samples import seeded_ids

TABLE = "0190b6f0-0000-7000-8000-000000000001"
JOB = "01J2V3W4X5Y6Z7A8B9C0D1E2F3"


def folders_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir())


def test_a_jobs_folder_goes_with_its_last_file_and_no_other_does(tmp_path: Path) -> None:
    """On a file store there would otherwise be one more empty folder for every job that ever was."""

    async def scenario() -> None:
        objects = TableObjects(FileObjects(tmp_path, InlineThreads()))
        log = objects.log_folder(TABLE)
        files = [f"{log}/{JOB}/0.parquet", f"{log}/{JOB}/ledger.json", f"{log}/metadata/v1.json"]
        for location in files:
            await objects.write(location, b"x")
        await objects.delete(files[:1])
        assert (tmp_path / "tables" / f"{TABLE}-log" / JOB).is_dir()
        await objects.delete(files[1:])
        assert folders_below(tmp_path) == ["tables", f"tables/{TABLE}-log", f"tables/{TABLE}-log/metadata"]

    asyncio.run(scenario())


def test_a_tables_folders_go_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        objects = TableObjects(FileObjects(tmp_path, InlineThreads()))
        table, log = objects.table_location(TABLE), objects.log_folder(TABLE)
        await objects.make_folder(f"{table}/metadata")
        for location in (f"{log}/{JOB}/0.parquet", f"{log}/{JOB}/1.parquet"):
            await objects.write(location, b"x")
        kept = {objects.key_of(f"{log}/{JOB}/1.parquet")}
        assert await objects.delete_below(f"{log}/{JOB}", but=kept) == 1
        assert await objects.delete_below(log) == 1
        assert await objects.delete_below(table) == 0
        assert folders_below(tmp_path) == ["tables"]

    asyncio.run(scenario())


def test_only_what_lies_in_a_jobs_own_folder_is_of_a_job(tmp_path: Path) -> None:
    objects = TableObjects(FileObjects(tmp_path, InlineThreads()))
    table, log, job = objects.table_location(TABLE), objects.log_folder(TABLE), objects.job_folder(TABLE, JOB)
    assert objects.job_of(f"{job}/0.parquet") == objects.job_of(f"{job}/deeper/0.parquet") == JOB
    for elsewhere in (job, f"{log}/metadata/v1.json", f"{log}/v1.json", log, f"{table}/{JOB}/0.parquet"):
        assert objects.job_of(elsewhere) is None


def with_root(own: Path, other: Path) -> TableObjects:
    stores = [FileObjects(folder, InlineThreads()) for folder in (own, other)]
    return TableObjects(stores[0], other_roots=stores[1:])


def test_files_below_an_allowed_root_are_written_read_and_deleted_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        objects = with_root(tmp_path / "own", tmp_path / "other")
        folder = f"{(tmp_path / 'other').as_uri()}/ns/tbl"
        here, there = f"{objects.table_location(TABLE)}/a.json", f"{folder}/a.json"
        for location in (here, there, f"{folder}/b.json"):
            await objects.write(location, location.encode())
            assert await objects.exists(location)
        assert (
            (tmp_path / "other" / "ns" / "tbl" / "a.json").read_bytes() == await objects.read(there) == there.encode()
        )
        await objects.delete([here, there])
        assert not await objects.exists(here) and not await objects.exists(there)
        with pytest.raises(MissingTableFile, match=r"^Failed to open input stream for file: .*a\.json"):
            await objects.read(there)
        assert await objects.delete_below(folder) == 1

    asyncio.run(scenario())


def test_a_root_allows_its_own_folder_and_nothing_beside_it(tmp_path: Path) -> None:
    objects = with_root(tmp_path / "own", tmp_path / "other")
    root = (tmp_path / "other").as_uri()
    objects.check_folder(f"{root}/ns/tbl", TABLE)
    objects.check_folder(f"{root.replace('file:///', 'file:/')}/ns/tbl", TABLE)
    for bad in (f"{root}-beside/tbl", f"{root}/../tbl", root, "s3://elsewhere/tbl"):
        with pytest.raises(InvalidLocation, match="other/"):
            objects.check_folder(bad, TABLE)


def test_a_root_above_our_store_does_not_open_the_logs_objects(tmp_path: Path) -> None:
    objects = with_root(tmp_path / "own", tmp_path)
    objects.check_folder(f"{tmp_path.as_uri()}/beside", TABLE)
    with pytest.raises(InvalidLocation):
        objects.check_folder(f"{tmp_path.as_uri()}/own/wal", TABLE)


def test_a_topics_files_never_lie_below_another_root(tmp_path: Path) -> None:
    objects = with_root(tmp_path / "own", tmp_path / "other")
    with pytest.raises(InvalidLocation):
        objects.key_of(f"{(tmp_path / 'other').as_uri()}/ns/tbl/a.parquet")


@pytest.mark.parametrize(("root", "reason"), [("own/tables", "inside of the object store"), ("own", "inside of")])
def test_a_root_inside_of_our_store_is_refused_at_the_start(tmp_path: Path, root: str, reason: str) -> None:
    own = FileObjects(tmp_path / "own", InlineThreads())
    url = (tmp_path / root).as_uri()
    opening = open_roots([url], own, clock=SystemClock(), ids=seeded_ids(), threads=InlineThreads(), options={})
    with pytest.raises(InvalidSetting, match=reason):
        asyncio.run(opening)


def test_a_root_that_dies_with_the_process_is_refused(tmp_path: Path) -> None:
    own = FileObjects(tmp_path, InlineThreads())
    opening = open_roots(
        ["memory://x"], own, clock=SystemClock(), ids=seeded_ids(), threads=InlineThreads(), options={}
    )
    with pytest.raises(InvalidSetting, match=r"catalog\.roots"):
        asyncio.run(opening)

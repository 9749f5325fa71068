"""Locations as keys of a store, and what goes with the last file of a folder."""

import asyncio
from pathlib import Path

from lakestream.catalog.files.locations import TableObjects
from lakestream.world.objects.file import FileObjects
from lakestream.world.threads import InlineThreads

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

"""Which store a URL names, and when opening is refused."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from lakestream.metadata.migrating import Dialect, Migration, migrations_of, pending
from lakestream.metadata.open import open_store
from lakestream.metadata.postgres.address import address_of
from lakestream.metadata.sqlite.connection import database_of
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Corrupt, InvalidSetting, MetadataTooNew, StoreUnavailable
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids


async def opened(url: str) -> MetadataStore:
    clock = SystemClock()
    return await open_store(url, clock=clock, ids=Ids(clock, SystemChance()))


def open_and_close(url: str) -> None:
    async def scenario() -> None:
        await (await opened(url)).close()

    asyncio.run(scenario())


def test_an_unknown_scheme_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidSetting, match=r"sqlite:///.*postgresql://"):
        open_and_close("mysql://localhost/lake")


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("sqlite:///var/lake/metadata.db", "/var/lake/metadata.db"),
        ("sqlite:////var/lake/metadata.db", "//var/lake/metadata.db"),
        ("sqlite://lake/metadata.db", "lake/metadata.db"),
        ("sqlite:///:memory:", ":memory:"),
    ],
)
def test_what_follows_the_scheme_is_the_path(url: str, database: str) -> None:
    assert database_of(url) == database


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///var/lake/"])
def test_a_url_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match="names no file"):
        database_of(url)


def test_missing_folders_are_made(tmp_path: Path) -> None:
    open_and_close(f"sqlite://{tmp_path}/a/b/metadata.db")
    assert (tmp_path / "a/b/metadata.db").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StoreUnavailable, match="taken"):
        open_and_close(f"sqlite://{tmp_path}/taken/below/metadata.db")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata.db").write_text("this is no database, " * 100)
    with pytest.raises(Corrupt, match="backup"):
        open_and_close(f"sqlite://{tmp_path}/metadata.db")


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "metadata.db"
    open_and_close(f"sqlite://{file}")
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO migration VALUES (9999, 0)")
    with pytest.raises(MetadataTooNew, match=r"9999.*run the version"):
        open_and_close(f"sqlite://{file}")
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT max(number) FROM migration").fetchone() == (9999,)


def test_an_older_store_gets_what_it_lacks() -> None:
    three = tuple(Migration(number=number, scripts=("",)) for number in (1, 2, 3))
    assert pending(three, 0, "url") == three
    assert pending(three, 2, "url") == three[2:]
    assert pending(three, 3, "url") == ()
    with pytest.raises(MetadataTooNew):
        pending(three, 4, "url")


def test_migrations_are_numbered_without_gaps_in_both_dialects() -> None:
    numbers = {dialect: [migration.number for migration in migrations_of(dialect)] for dialect in Dialect}
    assert numbers[Dialect.SQLITE] == numbers[Dialect.POSTGRES]
    assert numbers[Dialect.SQLITE] == list(range(1, len(numbers[Dialect.SQLITE]) + 1))


def test_a_failed_migration_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Migration(number=1, scripts=("CREATE TABLE cluster (a INTEGER);\nCREATE TABLE cluster (a INTEGER);\n",))
    monkeypatch.setattr("lakestream.metadata.sqlite.migrate.migrations_of", lambda dialect: (broken,))
    with pytest.raises(StoreUnavailable):
        open_and_close(f"sqlite://{tmp_path}/metadata.db")
    with sqlite3.connect(tmp_path / "metadata.db") as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def test_a_password_is_never_shown() -> None:
    address = address_of("postgresql://ann:geheim@db.example:5432/lake?schema=streams")
    assert address.shown == "postgresql://ann:***@db.example:5432/lake?schema=streams"
    assert address.schema == "streams"
    assert "search_path=streams" in address.conninfo
    assert "schema=streams" not in address.conninfo.replace("search_path=streams", "")


@pytest.mark.parametrize("schema", ["", "a-b", "a;drop", "Streams"])
def test_a_strange_schema_is_refused(schema: str) -> None:
    with pytest.raises(InvalidSetting, match="schema"):
        address_of(f"postgresql://host/lake?schema={schema}")


def test_a_malformed_postgres_url_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="postgresql://user"):
        address_of("postgresql://host/lake?colour=blue")


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable, match="try again"):
        open_and_close("postgresql://nobody@127.0.0.1:1/lake")

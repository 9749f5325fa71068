"""What engines are told by `lakestream connect`: where the catalog is, how files are reached, and no key."""

import duckdb
import pytest

from lakestream.cli.engines.engine_texts import TEXTS, Lake
from lakestream.model.errors import InvalidSetting
from tests.integration.up_process import command

OPTIONS = {
    "endpoint": "http://127.0.0.1:9000",
    "aws_region": "north",
    "access_key_id": "AKIA-HIDDEN",
    "AWS_SECRET_ACCESS_KEY": "hidden",
    "session_token": "hidden too",
}
URI = "http://127.0.0.1:8080/iceberg"
FILES = Lake(catalog_uri=URI, objects_url="file:///data/objects")
BUCKET = Lake(catalog_uri=URI, objects_url="s3://bucket/prefix", objects_options=OPTIONS)


@pytest.mark.parametrize("engine", TEXTS)
def test_every_engine_learns_where_catalog_and_files_are_and_no_key(engine: str) -> None:
    for lake in (FILES, BUCKET):
        assert URI in TEXTS[engine](lake)
    text = TEXTS[engine](BUCKET)
    assert "127.0.0.1:9000" in text and "north" in text
    assert "hidden" not in text.lower()
    assert "s3" not in TEXTS[engine](FILES).lower()


@pytest.mark.parametrize("engine", ["pyiceberg", "pyspark"])
def test_programs_are_programs(engine: str) -> None:
    compile(TEXTS[engine](BUCKET), engine, "exec")


def test_duckdb_is_named_with_its_version_and_with_packages_that_need_no_download() -> None:
    text = TEXTS["duckdb"](FILES)
    assert f"For DuckDB {duckdb.__version__}." in text
    for name in ("avro", "httpfs", "iceberg"):
        assert f"duckdb-extension-{name}=={duckdb.__version__}" in text
        assert f"{name}.duckdb_extension';\n" in text


def test_duckdb_is_told_where_keys_have_to_be_put() -> None:
    assert "KEY_ID '<AWS_ACCESS_KEY_ID>', SECRET '<AWS_SECRET_ACCESS_KEY>'" in TEXTS["duckdb"](BUCKET)


@pytest.mark.parametrize("engine", ["duckdb", "spark-sql"])
def test_a_store_that_an_engine_cannot_be_told_of_is_refused(engine: str) -> None:
    with pytest.raises(InvalidSetting, match="gs://"):
        TEXTS[engine](Lake(catalog_uri=URI, objects_url="gs://bucket"))


def test_an_unknown_engine_is_told_which_are_known() -> None:
    done = command("connect", "excel")
    assert done.returncode == 2
    assert "duckdb, pyiceberg, pyspark, spark-sql" in done.stderr


def test_a_text_comes_also_where_nothing_runs_yet() -> None:
    done = command("connect", "duckdb", "--http", "127.0.0.1:1")
    assert done.returncode == 0
    assert "ENDPOINT 'http://127.0.0.1:1/iceberg'" in done.stdout
    assert "nothing to connect to yet" in done.stderr

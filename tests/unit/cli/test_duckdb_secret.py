"""Our options of an object store, as DuckDB is told of them."""

import pytest

from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.cli.engines.sql_duckdb import advice
from lakestream.model.errors import InvalidSetting


def test_files_need_no_secret() -> None:
    assert secret_statement("file:///data/objects", {}, {"AWS_ACCESS_KEY_ID": "k"}) is None


def test_options_go_before_the_environment_whichever_way_they_are_written() -> None:
    options = {"aws_access_key_id": "mine", "region": "eu-west-1", "endpoint": "http://127.0.0.1:9000/"}
    environment = {"AWS_ACCESS_KEY_ID": "other", "AWS_SECRET_ACCESS_KEY": "it's", "TOKEN": "not of AWS", "HOME": "/"}
    assert secret_statement("s3://bucket/lake", options, environment) == (
        "CREATE SECRET objects (TYPE s3, SCOPE 's3://bucket', KEY_ID 'mine', SECRET 'it''s', REGION 'eu-west-1', "
        "ENDPOINT '127.0.0.1:9000', URL_STYLE 'path', USE_SSL false)"
    )


def test_amazons_own_store_needs_no_endpoint_and_a_public_bucket_no_keys() -> None:
    assert secret_statement("s3://bucket", {}, {}) == "CREATE SECRET objects (TYPE s3, SCOPE 's3://bucket')"
    assert "USE_SSL true" in (secret_statement("s3://bucket", {"endpoint": "https://store.example"}, {}) or "")


@pytest.mark.parametrize("url", ["gs://bucket/lake", "az://container", "memory://"])
def test_other_stores_are_refused_with_advice(url: str) -> None:
    with pytest.raises(InvalidSetting, match="engine of your own"):
        secret_statement(url, {}, {})


def test_files_that_cannot_be_reached_for_want_of_settings_are_explained() -> None:
    said = "IO Error: Could not resolve hostname error for HTTP GET to 'https://b.s3.amazonaws.com/lake/x.avro'"
    assert "--config" in advice(said)
    assert "--config" not in advice("Catalog Error: Table with name orders does not exist")

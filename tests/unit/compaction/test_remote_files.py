"""What Java is told to read tables in a remote store."""

import pytest

from lakestream.model.errors import InvalidSetting
from lakestream.table.spark.remote_files import S3_PACKAGE, RemoteFiles, remote_files


def test_files_need_nothing() -> None:
    assert remote_files("file:///data/objects", {}) == RemoteFiles()


@pytest.mark.parametrize("prefix", ["", "aws_", "AWS_"])
def test_our_options_for_s3_are_told_in_javas_words(prefix: str) -> None:
    options = {f"{prefix}endpoint": "http://127.0.0.1:9", f"{prefix}access_key_id": "id", f"{prefix}region": "r"}
    found = remote_files("s3://bucket/prefix", {**options, "timeout": "5s"})
    assert found.packages == (S3_PACKAGE,)
    assert found.catalog == {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": "http://127.0.0.1:9",
        "s3.access-key-id": "id",
        "client.region": "r",
        "s3.path-style-access": "true",
    }


def test_amazons_own_buckets_are_found_by_their_names() -> None:
    assert "s3.path-style-access" not in remote_files("s3://bucket", {"region": "r"}).catalog


def test_a_store_that_spark_cannot_read_here_is_refused_with_advice() -> None:
    with pytest.raises(InvalidSetting, match="DuckDB"):
        remote_files("gs://bucket", {})

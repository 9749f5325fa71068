"""What takes long to start, once for all tests here: a Spark session, which commands that find one running use, and a
whole `lakestream up` with its pipeline, whose tests each have topics of their own."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.integration.tables.up_topics import SHORT_LEASE, wait_for
from tests.integration.up_process import Up
from tests.spark_session import missing_spark, spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if (reason := missing_spark()) is not None:
        pytest.skip(reason)
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Ready, with a short grace for the WAL and a short lease. Some tests kill parts of it, and see that they come
    back."""
    with Up(
        tmp_path_factory.mktemp("up") / "data", "--set", "wal.grace_ms=500", *SHORT_LEASE, pipeline=True
    ) as running:
        wait_for(lambda: "pipeline ready" in running.said(), "the pipeline did not start")
        yield running
        assert running.stop() == 0

"""One Spark session for all tests here: it takes ten seconds to start. Commands that find one running use it."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark_session import missing_spark, spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if (reason := missing_spark()) is not None:
        pytest.skip(reason)
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session

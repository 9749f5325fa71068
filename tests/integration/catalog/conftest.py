"""One Spark session and one catalog for all tests here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration.catalog.gateway import RunningCatalog, running_catalog
from tests.spark_session import attach, missing_spark, spark_session


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCatalog]:
    with running_catalog(tmp_path_factory.mktemp("lake")) as running:
        yield running


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, catalog: RunningCatalog) -> Iterator[SparkSession]:
    if (reason := missing_spark()) is not None:
        pytest.skip(reason)
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        attach(session, "lake", catalog.uri)
        yield session


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB leaves an empty folder `data` wherever it runs when it writes to a file store."""
    monkeypatch.chdir(tmp_path)

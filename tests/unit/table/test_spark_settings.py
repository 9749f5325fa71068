"""What Spark is told when a session opens: our settings, and those that pass through."""

import os
import sys

import pytest

from lakestream.table.spark.lake_session import _with_ours
from lakestream.table.spark.remote_files import RemoteFiles
from lakestream.table.spark.session import SparkLimits, _settings, local_addresses, name_the_pythons


def test_settings_that_pass_through_go_before_ours() -> None:
    conf = {"spark.ui.enabled": "true", "spark.executor.memory": "4g", "spark.driver.extraJavaOptions": "-Dx=y"}
    told = _settings(SparkLimits(master="spark://x:7077", driver_memory="1g", conf=conf), "-Xarchive")
    assert conf.items() <= told.items()
    assert told["spark.driver.memory"] == "1g"
    assert told["spark.driver.defaultJavaOptions"].endswith("-Xarchive"), "beside the options of the user"


def test_only_a_local_spark_stays_on_the_loopback_interface() -> None:
    assert local_addresses("local[*]") and not local_addresses("spark://x:7077")
    told = _settings(SparkLimits(master="local", driver_memory="1g", conf={"spark.driver.host": "10.0.0.1"}), "")
    assert told["spark.driver.host"] == "10.0.0.1"


def test_our_libraries_stay_beside_those_that_users_add() -> None:
    files = RemoteFiles(packages=("org.example:ours:1",))
    told = _with_ours({"spark.jars.packages": "org.example:theirs:1", "spark.executor.cores": "2"}, files)
    assert told["spark.jars.packages"].endswith("org.example:ours:1,org.example:theirs:1")
    assert told["spark.executor.cores"] == "2"
    assert "spark.sql.extensions" not in told, "nothing to join"


def test_the_python_of_workers_may_be_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "unknown")
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", "unknown")
    name_the_pythons({"spark.pyspark.python": "./env/bin/python"})
    assert (os.environ["PYSPARK_PYTHON"], os.environ["PYSPARK_DRIVER_PYTHON"]) == ("./env/bin/python", sys.executable)
    name_the_pythons({})
    assert os.environ["PYSPARK_PYTHON"] == sys.executable

"""Whatever the catalog accepts, Iceberg's own library can load: else Spark, Flink and Trino have lost the table."""

import json

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.unit.catalog.face import Face, with_face
from tests.unit.catalog.spoiled import SITUATIONS, Situation, accepted


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_java_loads_what_is_accepted(spark: SparkSession, situation: Situation) -> None:
    java = spark._jvm
    assert java is not None
    iceberg = java.org.apache.iceberg
    parser = iceberg.TableMetadataParser if situation.kind == "tables" else iceberg.view.ViewMetadataParser
    unreadable = []

    async def scenario(face: Face) -> None:
        async for where, metadata in accepted(face, situation):
            try:
                parser.toJson(parser.fromJson(json.dumps(metadata)))
            except (Py4JJavaError, PySparkException) as error:
                unreadable.append(f"{where}: {error}"[:300])

    with_face(scenario)
    assert unreadable == []

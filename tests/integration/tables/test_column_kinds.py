"""Every kind of column that an Avro schema can want, read by every engine, and written back for Kafka."""

import datetime
import decimal
import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import attach

UTC = datetime.UTC
KINDS: dict[str, tuple[Any, Any]] = {
    "whole": ("int", -7),
    "long": ("long", 1 << 40),
    "real": ("float", 0.5),
    "double": ("double", 2.25),
    "flag": ("boolean", True),
    "text": ("string", "é"),
    "bytes": ("bytes", b"\x00\xff"),
    "fixed": ({"type": "fixed", "name": "Four", "size": 4}, b"abcd"),
    "uuid": ({"type": "string", "logicalType": "uuid"}, "0f8fad5b-d9cb-469f-a165-70867728950e"),
    "money": ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, decimal.Decimal("1.25")),
    "day": ({"type": "int", "logicalType": "date"}, datetime.date(2020, 1, 2)),
    "moment": ({"type": "long", "logicalType": "timestamp-millis"}, datetime.datetime(2020, 1, 2, 3, tzinfo=UTC)),
    "there": ({"type": "long", "logicalType": "local-timestamp-micros"}, datetime.datetime(2020, 1, 2, 3, 4, 5, 6)),
    "clock": ({"type": "int", "logicalType": "time-millis"}, datetime.time(1, 2, 3, 4_000)),
    "choice": ({"type": "enum", "name": "Choice", "symbols": ["A", "B"]}, "B"),
    "maybe": (["null", "string"], None),
    "numbers": ({"type": "array", "items": "long"}, [1, 2]),
    "counts": ({"type": "map", "values": "int"}, {"a": 1}),
    "inner": (
        {
            "type": "record",
            "name": "Inner",
            "fields": [{"name": "x", "type": "int"}, {"name": "ys", "type": {"type": "array", "items": "string"}}],
        },
        {"x": 1, "ys": ["a", "b"]},
    ),
    "either": (["null", "int", "string"], "text"),
}
SCHEMA = json.dumps(
    {"type": "record", "name": "Kinds", "fields": [{"name": name, "type": kind} for name, (kind, _) in KINDS.items()]}
)
VALUE = {name: value for name, (_, value) in KINDS.items()}
EXPECTED = VALUE | {"clock": 3_723_004}
"""Spark's Iceberg cannot load a table with a column of time, so that a time of day is the number that Avro has."""

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(Path(tmp_path_factory.mktemp("kinds"))) as running:
        yield running


def test_every_kind_through_every_engine(lake: RunningLake, spark: SparkSession) -> None:
    lake.create("kinds", 1, {"lakestream.value.format": "avro"})
    id = SchemaRegistryClient({"url": lake.registry}).register_schema("kinds-value", Schema(SCHEMA, "AVRO"))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(SCHEMA)), VALUE)
    lake.produce("kinds", [struct.pack(">bi", 0, id) + out.getvalue()] * 3)
    lake.compact()
    by_pyiceberg = RestCatalog("lake", uri=lake.uri).load_table(("streams", "kinds")).scan().to_arrow()
    found = by_pyiceberg.to_pylist()[0]
    assert found["__value"] is None
    assert {name: found[name] for name in KINDS if name not in ("counts", "either")} == {
        name: value for name, value in EXPECTED.items() if name not in ("counts", "either")
    }
    assert dict(found["counts"]) == {"a": 1}
    assert "text" in found["either"].values()
    attach(spark, "kinds", lake.uri)
    row = spark.sql("SELECT * FROM kinds.streams.kinds").collect()[0].asDict(recursive=True)
    assert {name: row[name] for name in ("whole", "clock", "money", "day", "counts", "inner", "uuid")} == {
        name: EXPECTED[name] for name in ("whole", "clock", "money", "day", "counts", "inner", "uuid")
    }
    [by_duckdb] = lake.json("sql", "SELECT whole, clock, text, maybe, count(*) AS n FROM kinds GROUP BY ALL")
    assert by_duckdb == {"whole": -7, "clock": 3_723_004, "text": "é", "maybe": None, "n": 3}
    done = lake.command("verify", "kinds", "--json")
    assert done.returncode == 0, done.stdout

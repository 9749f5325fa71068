"""A driver of Spark that reads a topic as a stream into a folder, as a process that can be killed at any moment.

python -m tests.spark_stream_process MASTER FOLDER '{"topic": ..., "http": ...}' [BATCH]

FOLDER/checkpoint is the stream's, FOLDER/batches takes the rows of each batch in a file of its number. It ends when all
is read that there was. At BATCH it dies by SIGKILL instead: after the batch was written, and before Spark knows that.
"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lakestream.spark import register
from tests.spark_cluster import CONF

COLUMNS = ("__partition", "__offset", "hex(__key)", "hex(__value)")


def main(master: str, folder: Path, options: dict[str, str], dies_at: int | None) -> None:
    builder = SparkSession.builder.master(master).appName("stream")
    quick = {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "1",
    }
    for name, value in {**CONF, **quick}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    register(spark)
    frame = spark.readStream.format("lakestream").options(**options).load().selectExpr(*COLUMNS)
    (folder / "batches").mkdir(parents=True, exist_ok=True)
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.foreachBatch(partial(_take, folder, dies_at)).start()
    query.processAllAvailable()
    query.stop()
    spark.stop()


def _take(folder: Path, dies_at: int | None, frame: DataFrame, number: int) -> None:
    rows = sorted(list(row) for row in frame.collect())
    file = folder / "batches" / f"{number}.json"
    if file.exists():
        assert json.loads(file.read_text()) == rows, "a batch that is run again has the same rows"
    arriving = file.with_suffix(".arriving")
    arriving.write_text(json.dumps(rows))
    arriving.replace(file)
    if number == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else None)

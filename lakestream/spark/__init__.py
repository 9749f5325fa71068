"""The Spark data source `lakestream`: topics as DataFrames, read from the object store without a broker.

    from lakestream.spark import register

    register(spark)
    spark.read.format("lakestream").option("topic", "orders").load()
    spark.readStream.format("lakestream").option("topic", "orders").load()

docs/guide/spark.md shows all options.
"""

from lakestream.spark.source import register

__all__ = ["register"]

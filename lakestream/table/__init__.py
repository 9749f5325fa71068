"""Compaction from the log into tables, and all other code that runs on Spark. Only this package imports pyspark."""

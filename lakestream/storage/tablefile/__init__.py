"""The table file: a Parquet file that is both data of an Iceberg table and a stretch of the log."""

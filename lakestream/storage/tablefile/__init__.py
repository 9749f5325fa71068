"""The table file: Parquet that is data of an Iceberg table and a stretch of the log, at the same time."""

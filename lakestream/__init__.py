"""Lakestream: a Kafka broker without leaders and without disks, whose topics are Iceberg tables."""

__version__ = "0.1.0"
